import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { longestTask } from './support/longest-task.js'

// What an agent says is untrusted. In the real browser nothing of it may run, leave, or hide.

const ELSEWHERE = 'http://127.0.0.1:9/elsewhere'

const HOSTILE = [
  '<script>window.owned = 1</script>',
  `<script src="${ELSEWHERE}/a.js"></script>`,
  '<img src=x onerror="window.owned = 1">',
  `<img src="${ELSEWHERE}/a.png" srcset="${ELSEWHERE}/b.png 2x">`,
  `![a picture](${ELSEWHERE}/c.png)`,
  '![an own address](/auth/me)',
  '<svg onload="window.owned = 1"><script>window.owned = 1</script><use href="/console/icon.svg"/></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror="window.owned = 1">',
  `<style>@import url(${ELSEWHERE}/a.css); body { display: none }</style>`,
  `<link rel="stylesheet" href="${ELSEWHERE}/b.css"><link rel="preload" as="image" href="${ELSEWHERE}/d.png">`,
  `<div style="position:fixed;inset:0;background:url(${ELSEWHERE}/e.png)">over everything</div>`,
  '[press me](javascript:window.owned=1)',
  '[press me](JaVa\u0000Script:window.owned=1)',
  '[press me](&#106;avascript:window.owned=1)',
  '[press me](data:text/html,<script>window.owned=1</script>)',
  '<javascript:window.owned=1>',
  `<iframe src="${ELSEWHERE}/f" srcdoc="<script>parent.owned = 1</script>"></iframe>`,
  `<object data="${ELSEWHERE}/g"></object><embed src="${ELSEWHERE}/h">`,
  `<form action="${ELSEWHERE}/i"><input name="code"><button>Log in</button></form>`,
  `<base href="${ELSEWHERE}/"><meta http-equiv="refresh" content="0;url=${ELSEWHERE}/j">`,
  `<a href="${ELSEWHERE}/k" ping="${ELSEWHERE}/l" target="_self">https://good.example</a>`,
  '<article class="request"><h2>Permission</h2><button class="allow_once">Allow once: all</button></article>',
  `[https://good.example](${ELSEWHERE}/m "https://good.example")`,
  '"><img src=x onerror=window.owned=1>',
  '```html"onmouseover="window.owned=1\n</code></pre><script>window.owned = 1</script>\n```',
  '<input type="image" src=x onerror="window.owned = 1"><details open ontoggle="window.owned = 1">',
]

const HIDDEN = 'rm \u202Etxt.exe\u202C \u200Bzero\uFEFF \u001B[31mred\u001B[0m \u001B]8;;http://a\u0007link'

/** Elements that what an agent wrote must never become. */
const FORBIDDEN = 'script, img, svg, style, link, iframe, object, embed, form, base, meta, article, video, math, button'

/** A prompt that the demo agent repeats: a semicolon would separate its words. */
const said = (text: string): string => `say ${text.replaceAll(';', '\\;')}`

const isOwned = (page: Page): Promise<boolean> => page.evaluate(() => 'owned' in globalThis)

async function hostileSession(gateway: TestGateway, prompts: readonly string[]): Promise<string> {
  const { sessions } = gateway.client
  const { id } = await sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  for (const prompt of prompts) await sessions.promptAndWait(id, { prompt })
  return id
}

test(
  '15.s what an agent says runs nothing, fetches nothing and becomes no control of the console',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const id = await hostileSession(gateway, [
      ...HOSTILE.map(said),
      `think ${HOSTILE[2]}`,
      'write <img-src=x-onerror=window.owned=1>.txt <script>window.owned = 1</script>',
      `run echo '${HOSTILE[0]}'`,
    ])
    await gateway.client.sessions.rename(id, { title: HOSTILE[2] ?? '' })
    const { page, context, foreign, problems } = await openConsole(gateway, { place: `/sessions/${id}` })
    const transcript = page.getByRole('log', { name: 'Transcript' })
    await transcript.locator('.part').first().waitFor()
    const seen = { forbidden: [] as string[], links: new Set<string>() }
    for (let top = 0; top < (await transcript.evaluate((log) => log.scrollHeight)); top += 300) {
      await transcript.evaluate((log, to) => (log.scrollTop = to), top)
      for (const summary of await transcript.locator('details:not([open]) > summary').all())
        await summary.click({ timeout: 5_000 }).catch(() => undefined)
      seen.forbidden.push(...(await transcript.locator(FORBIDDEN).allInnerTexts()))
      for (const link of await transcript.locator('a').all())
        seen.links.add(`${await link.getAttribute('href')} ${await link.getAttribute('rel')}`)
    }
    expect(seen.forbidden).toEqual([])
    for (const link of seen.links) expect(link).toMatch(/^https?:\/\/\S+ noopener noreferrer nofollow$/)
    expect(seen.links.size).toBeGreaterThan(1)
    await page.goto(`${gateway.url}/console/#/sessions`)
    await page.getByText(HOSTILE[2] ?? '').waitFor()
    expect({ foreign, problems, owned: await isOwned(page), pages: context.pages().length }).toEqual({
      foreign: [],
      problems: [],
      owned: false,
      pages: 1,
    })
  },
)

test(
  '15.s what has no width, changes the order of text or commands a terminal is shown as its number',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const id = await hostileSession(gateway, [said(HIDDEN)])
    const { page } = await openConsole(gateway, { place: `/sessions/${id}` })
    const answer = page.getByRole('log').locator('.markdown')
    await answer.waitFor()
    const text = await answer.innerText()
    for (const name of ['202E', '202C', '200B', 'FEFF', '001B', '0007']) expect(text).toContain(`⟨U+${name}⟩`)
    expect(text).not.toMatch(/[\u202A-\u202E\u200B\uFEFF\u001B]/u)
  },
)

test(
  '15.s an agent that forges a request gets no card: a card is what the gateway says',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const forged = JSON.stringify({
      type: 'agent-prompt',
      requestId: 'r1',
      request: { kind: 'permission', options: [] },
    })
    await hostileSession(gateway, [said(forged), said(`data: ${forged}\n\nevent: agent-prompt\ndata: ${forged}\n\n`)])
    const { page } = await openConsole(gateway)
    await page.getByText('No agent waits for you.').waitFor()
    expect(await page.locator('article.request').count()).toBe(0)
  },
)

test('15.R1 a text that is nested in thousands of levels does not end the page', needs('chromium'), async () => {
  const gateway = await startGateway()
  const id = await hostileSession(gateway, ['hello', said(`\n\n${'>'.repeat(5_000)}`), 'still here'])
  const { page, problems } = await openConsole(gateway, { place: `/sessions/${id}` })
  await page.getByText('echo: still here').waitFor()
  await page.locator('.markdown pre', { hasText: '>>>>' }).waitFor({ state: 'attached' })
  expect(problems).toEqual([])
})

test('15.s a word of a megabyte blocks the page for at most 200 ms at a time', needs('chromium'), async () => {
  const gateway = await startGateway()
  const id = await hostileSession(gateway, ['hello'])
  const { page, context } = await openConsole(gateway, { place: `/sessions/${id}` })
  await page.getByText('echo: hello').waitFor()
  const longest = await longestTask(context, page, async () => {
    await gateway.client.sessions.promptAndWait(id, { prompt: said('x'.repeat(1_000_000)) })
    // The end of the first turn is part 2.
    await page.locator('.virtual-row:not([data-index="2"]) .turn-end').waitFor()
    await page.getByRole('textbox', { name: 'Prompt' }).fill('it can be typed in')
  })
  expect(longest).toBeGreaterThan(0)
  expect(longest).toBeLessThan(200)
})

test('15.s the console forbids what it does not need, and no path leaves its folder', async () => {
  const gateway = await startGateway()
  const { headers } = await fetch(`${gateway.url}/console/`)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy.split('; ').toSorted()).toEqual([
    "base-uri 'none'",
    "default-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' blob: data:",
    "object-src 'none'",
  ])
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  const paths = [
    '%2e%2e/package.json',
    '..%2fpackage.json',
    '..%5cpackage.json',
    '%2fetc%2fpasswd',
    'assets/',
    'assets',
  ]
  const more = [
    '%00',
    'index.html%00.js',
    '__proto__',
    'constructor',
    '.%2e/dist/index.js',
    '%252e%252e/package.json',
    '%',
  ]
  for (const path of [...paths, ...more]) {
    const { status } = await fetch(`${gateway.url}/console/${path}`)
    expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => [400, 401, 404].includes(code))])
  }
})
