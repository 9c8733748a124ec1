import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openBrowser, openConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { repository } from './support/repository.js'

// Each place, in other languages, on the smallest and the widest screen, and for a login that may do less.

const NAMES = [
  'שלום עולם, this is mixed',
  'مرحبا بالعالم',
  '日本語のとても長い名前'.repeat(8),
  '👩‍👩‍👧‍👦 family 🏳️‍🌈 ️',
  'x'.repeat(150),
]

interface Filled {
  readonly id: string
  readonly places: readonly string[]
}

/** Sessions with these names and texts, one of which waits. */
async function filled(gateway: TestGateway): Promise<Filled> {
  const folder = await repository(gateway)
  const { sessions } = gateway.client
  for (const label of NAMES.slice(1)) await sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label })
  const { id } = await sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label: NAMES[0] ?? '' })
  for (const name of NAMES) await sessions.promptAndWait(id, { prompt: `say ${name} ${name}` })
  writeFileSync(join(folder, 'קובץ.txt'), 'שלום\n')
  await sessions.promptAndWait(id, { prompt: `write ${'長い'.repeat(40)}.txt ${'word'.repeat(200)}` })
  await sessions.prompt(id, { prompt: `ask ملف.txt ${'مرحبا '.repeat(40)}` })
  await expect.poll(async () => (await sessions.get(id)).pendingRequests).toBe(1)
  return { id, places: ['/', '/sessions', `/sessions/${id}`, `/sessions/${id}/changes`, '/usage', '/settings'] }
}

const sideways = (page: Page): Promise<number> =>
  page.evaluate<number>(`Math.max(...[document.documentElement, document.body, document.querySelector('main')].map(
    (each) => each.scrollWidth - each.clientWidth))`)

async function unfold(page: Page): Promise<void> {
  const folded = page.locator('main details:not([open]) > summary')
  for (let left = await folded.count(); left > 0 && (await folded.count()) > 0; left--)
    await folded.first().dispatchEvent('click')
}

for (const width of [360, 2_560])
  test(
    `15.7 names and texts of every language fit at ${width} px, and nothing scrolls sideways`,
    needs('chromium'),
    async () => {
      const gateway = await startGateway()
      const { places } = await filled(gateway)
      const { page, problems } = await openConsole(gateway, { width, height: 800 })
      const wide: string[] = []
      for (const place of places) {
        await page.goto(`${gateway.url}/console/#${place}`)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        if (place === '/' || place.startsWith('/sessions'))
          await page
            .getByText(/\p{Script=Hebrew}/u)
            .first()
            .waitFor()
        await unfold(page)
        if ((await sideways(page)) > 0) wide.push(`${place}: ${await sideways(page)} px`)
      }
      expect({ wide, problems }).toEqual({ wide: [], problems: [] })
    },
  )

test('15.7 a name from right to left leaves the text around it in its order', needs('chromium'), async () => {
  const gateway = await startGateway()
  await repository(gateway)
  await gateway.client.sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label: 'שלום \u202Eevil' })
  const { page } = await openConsole(gateway, { place: '/sessions' })
  const row = page.locator('.session-row').filter({ hasText: 'שלום' })
  await row.waitFor()
  expect(await row.innerText()).toContain('⟨U+202E⟩')
  const x = async (text: string): Promise<number> => (await row.getByText(text).first().boundingBox())?.x ?? -1
  expect(await x('idle')).toBeLessThan(await x('שלום'))
  expect(await x('שלום')).toBeLessThan(await x('demo'))
})

for (const scope of ['read', 'operate'] as const)
  test(`15.7 a login with ${scope} has no control that is refused`, needs('chromium'), async () => {
    const gateway = await startGateway()
    const { places } = await filled(gateway)
    const { code } = await gateway.client.browserCode({ scope })
    const { page } = await openBrowser(gateway)
    const refused: string[] = []
    page.on('response', (response) => {
      if ([401, 403].includes(response.status())) refused.push(`${response.request().method()} ${response.url()}`)
    })
    await page.goto(`${gateway.url}/console/#code=${code}/`)
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    for (const place of places) {
      await page.goto(`${gateway.url}/console/#${place}`)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await unfold(page)
      await pressAll(page)
    }
    expect(refused).toEqual([])
  })

/** Presses each button that is in the place at first, but for those that end a session. */
async function pressAll(page: Page): Promise<void> {
  const names = await page.locator('main button:enabled').allInnerTexts()
  for (const name of new Set(names.filter((text) => !/Kill|Stop|Log out/.test(text) && text.trim() !== ''))) {
    const button = page.locator('main button:enabled').filter({ hasText: name }).first()
    if ((await button.count()) > 0) await button.click({ timeout: 3_000 }).catch(() => undefined)
    await page.keyboard.press('Escape')
  }
  await page.waitForLoadState('domcontentloaded')
}
