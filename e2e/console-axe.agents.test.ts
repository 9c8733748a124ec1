import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { found, isWiderThanScreen } from './support/axe.js'
import { openBrowser, openConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'

// Each place of the console as a screen reader, a magnifier and a keyboard find it.

const SCREENS = [
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1_440, height: 900, colorScheme: 'light' },
  { width: 1_440, height: 900, colorScheme: 'dark' },
] as const

/** Opens what is folded; rows of the transcript that come into view thereby stay as they are. */
async function unfold(page: Page): Promise<void> {
  const folded = page.locator('main details:not([open]) > summary')
  for (let left = await folded.count(); left > 0 && (await folded.count()) > 0; left--)
    await folded.first().dispatchEvent('click')
}

/** A session with each kind of part, and one that waits for an answer. */
async function filled({ client, cwd }: TestGateway): Promise<string> {
  const { id } = await client.sessions.start({ adapter: 'demo', cwd, label: 'all parts' })
  const words = ['# A title\\n\\n- `code`', 'think', 'plan', 'write a.txt hello', 'run ls', 'usage']
  for (const prompt of words) await client.sessions.promptAndWait(id, { prompt })
  const waiting = await client.sessions.start({ adapter: 'demo', cwd, label: 'waits' })
  await client.sessions.prompt(waiting.id, { prompt: 'ask b.txt' })
  await expect.poll(async () => (await client.sessions.waiting()).requests.length).toBe(1)
  return id
}

for (const screen of SCREENS) {
  const { width, height, colorScheme } = screen
  test(`15.7 axe finds nothing at ${width}×${height}, ${colorScheme}`, needs('chromium'), async () => {
    const gateway = await startGateway()
    const id = await filled(gateway)
    const locked = await openBrowser(gateway, screen)
    await locked.page.goto(`${gateway.url}/console/`)
    await locked.page.getByText('agentproto open').waitFor()
    expect(await found(locked.page)).toEqual([])
    const { page } = await openConsole(gateway, screen)
    const findings: string[] = []
    const places = [
      ['#/', page.locator('article.request')],
      ['#/sessions', page.getByText('all parts')],
      ['#/usage', page.getByRole('heading', { level: 1 })],
      ['#/settings', page.getByRole('heading', { level: 1 })],
      [`#/sessions/${id}/changes`, page.getByText('a.txt')],
      [`#/sessions/${id}`, page.getByRole('log').getByText('Done').last()],
    ] as const
    for (const [address, sign] of places) {
      await page.goto(`${gateway.url}/console/${address}`)
      await sign.first().waitFor()
      await unfold(page)
      findings.push(...(await found(page)).map((finding) => `${address} ${finding}`))
      if (await isWiderThanScreen(page)) findings.push(`${address} is wider than the screen`)
    }
    expect(findings).toEqual([])
  })
}
