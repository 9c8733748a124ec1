// Writes the pictures of docs/console.md: the real console in a real browser, with the demo agent. Build first, then
// node tooling/console-pictures.mjs. It needs the Debian package chromium-headless-shell.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '../packages/client/dist/index.js'
import { createGateway } from '../packages/runtime/dist/index.js'
import { findProgram } from './programs.mjs'

const { chromium } = createRequire(new URL('../e2e/package.json', import.meta.url))('playwright-core')

const DESKTOP = { width: 1_440, height: 900 }
const PHONE = { width: 390, height: 844 }

const folder = mkdtempSync(join(tmpdir(), 'agentproto-pictures-'))
const cwd = mkdtempSync(join(folder, 'shop-'))
const gateway = await createGateway({
  home: join(folder, 'home'),
  cwd,
  env: { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, 'state') },
})
const browser = await chromium.launch({
  executablePath: findProgram('chromium'),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})
try {
  const { url, token } = await gateway.listen({ port: 0 })
  const client = createClient({ url, token })
  const id = await sessionsOf(client)
  const { code } = await client.browserCode()
  const page = await (await browser.newContext({ colorScheme: 'light' })).newPage()
  await page.goto(`${url}/console/#code=${code}/`)
  const places = [
    ['needs-you', '#/', 'article.request'],
    ['sessions', '#/sessions', '.row'],
    ['session', `#/sessions/${id}`, '.turn-end'],
  ]
  for (const [name, address, sign] of places) {
    await page.evaluate((to) => (location.hash = to), address)
    await page.locator(sign).last().waitFor()
    for (const [screen, size] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      await page.setViewportSize(size)
      await page.screenshot({ path: fileURLToPath(new URL(`../docs/console-${name}-${screen}.png`, import.meta.url)) })
    }
  }
} finally {
  await browser.close()
  await gateway.close()
  rmSync(folder, { recursive: true, force: true })
}

/** Sessions as somebody has them in the afternoon. */
async function sessionsOf(client) {
  const start = async (label, ...prompts) => {
    const { id } = await client.sessions.start({ adapter: 'demo', cwd, label })
    for (const prompt of prompts) await client.sessions.promptAndWait(id, { prompt })
    return id
  }
  const id = await start('fix-tests', 'plan', 'think the flaky test', 'write notes.md Run the tests twice.', 'run ls')
  await start('release notes', 'hello')
  const { id: waiting } = await client.sessions.start({ adapter: 'demo', cwd, label: 'price rounding' })
  await client.sessions.prompt(waiting, { prompt: 'ask prices.ts export const round = Math.round' })
  const { id: asking } = await client.sessions.start({ adapter: 'demo', cwd, label: 'new colours' })
  await client.sessions.prompt(asking, { prompt: 'question Which colour?' })
  while ((await client.sessions.waiting()).requests.length < 2) await client.sessions.waitTurn(id, 1)
  return id
}
