import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openBrowser, type OpenedConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { type ReverseProxy, startProxy } from './support/reverse-proxy.js'

// The console below a path prefix, behind a proxy that ends TLS.

const NAME = 'agents.example'

interface Proxied extends OpenedConsole {
  readonly gateway: TestGateway
  readonly proxy: ReverseProxy
  readonly sessionId: string
}

/** A browser that has logged in through the proxy, with a session before it. */
async function openProxied(): Promise<Proxied> {
  const proxy = await startProxy(NAME, '/deep/agents')
  const gateway = await startGateway({ publicUrl: proxy.url })
  proxy.passTo(gateway.url)
  const { id: sessionId } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  const opened = await openBrowser({ ...gateway, url: proxy.url }, { loopbackName: NAME })
  const { url } = await gateway.client.browserCode()
  expect(url).toMatch(`${proxy.url}/console/#code=`)
  await opened.page.goto(`${url}/sessions/${sessionId}`)
  return { ...opened, gateway, proxy, sessionId }
}

const transcript = (page: Page) => page.getByRole('log', { name: 'Transcript' })

async function prompt(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Prompt' }).fill(text)
  await page.keyboard.press('Enter')
}

test(
  '15.1 below a path prefix behind a proxy: log in, read a stream while it runs, answer, and reload',
  needs('chromium'),
  async () => {
    const { page, gateway, proxy, sessionId, foreign, problems } = await openProxied()
    await prompt(page, 'stream 3 1; hang')
    await transcript(page).getByText('chunk 3').waitFor()
    // What has come is shown although the answer has no end.
    expect((await gateway.client.sessions.get(sessionId)).turn.state).not.toBe('idle')
    await page.getByRole('button', { name: 'Interrupt', exact: true }).click()
    await expect.poll(async () => (await gateway.client.sessions.get(sessionId)).turn.state).toBe('idle')
    await prompt(page, 'ask demo.txt hello')
    await page.getByRole('article').waitFor()
    await page.waitForFunction((start) => performance.now() - start > 300, await page.evaluate(() => performance.now()))
    await page.getByRole('button', { name: 'Allow once' }).click()
    await transcript(page).getByText('demo.txt').first().waitFor()
    await expect.poll(async () => (await gateway.client.sessions.requests(sessionId))[0]?.state).toBe('resolved')
    await page.reload()
    await transcript(page).getByText('chunk 3').waitFor()
    expect(page.url()).toBe(`${proxy.url}/console/#/sessions/${sessionId}`)
    expect({ foreign, problems, strays: proxy.strays }).toEqual({ foreign: [], problems: [], strays: [] })
  },
)

test(
  '15.1 behind a proxy the cookie is for TLS and the prefix alone, and Host and Origin are checked as anywhere',
  needs('chromium'),
  async () => {
    const { page, context, proxy } = await openProxied()
    await page.getByRole('navigation').getByText('Connected', { exact: true }).waitFor()
    const [login, ...others] = await context.cookies()
    expect(others).toEqual([])
    expect(login).toMatchObject({ path: '/deep/agents', secure: true, httpOnly: true, sameSite: 'Strict' })
    const { origin } = new URL(proxy.url)
    expect(await context.cookies(`${origin}/deep/other`)).toEqual([])
    const cookie = `${login?.name}=${login?.value}`
    const answered = async (headers: Readonly<Record<string, string>>): Promise<string> => {
      const { status, body } = await proxy.call('/sessions', { cookie, ...headers })
      const { code = '' } = JSON.parse(body) as { readonly code?: string }
      return `${status} ${code}`.trim()
    }
    expect(await answered({ origin })).toBe('200')
    expect(await answered({ origin: 'https://evil.example' })).toBe('403 origin_not_allowed')
    expect(await answered({ origin: origin.replace('https:', 'http:') })).toBe('403 origin_not_allowed')
    expect(await answered({ origin: `https://${NAME}` })).toBe('403 origin_not_allowed')
    expect(await answered({ 'sec-fetch-site': 'cross-site' })).toBe('403 origin_not_allowed')
    expect(await answered({ host: 'evil.example' })).toBe('403 host_not_allowed')
    expect(await answered({ host: NAME, origin: `https://${NAME}` })).toBe('403 host_not_allowed')
  },
)
