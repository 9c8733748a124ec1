// Writes the pictures of docs/console.md: the real console in a real browser, with the demo agent. Build first, then
// node tooling/console-pictures.mjs. It needs the Debian packages chromium-headless-shell and nats-server.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../packages/contracts/dist/index.js'
import { createClient } from '../packages/client/dist/index.js'
import { createGateway } from '../packages/runtime/dist/index.js'
import { launchNats } from './nats-servers.mjs'
import { findProgram } from './programs.mjs'

const { chromium } = createRequire(new URL('../e2e/package.json', import.meta.url))('playwright-core')

const SCREENS = { desktop: { width: 1_440, height: 900 }, phone: { width: 390, height: 844 } }

const PRICES = `export interface Item {
  readonly cents: number
  readonly count: number
}

export const total = (items: readonly Item[]): number =>
  items.reduce((sum, { cents, count }) => sum + cents * count, 0)
`
/** What a script of the shop does to its own sources, so that a prompt has one line and a picture has a difference. */
const ROUND = `sed -i 's/=>$/=> {/; s/^  items.reduce\\(.*\\)$/  const cents = items.reduce\\1\\n  return Math.round(cents)\\n}/' src/prices.ts
cat > src/prices.test.ts << 'END'
import { expect, test } from 'vitest'
import { total } from './prices.js'

test('a total is rounded once, at its end', () => {
  expect(total([{ cents: 33.4, count: 3 }])).toBe(100)
})
END
echo "2 files changed"
`

const user = mkdtempSync(join(tmpdir(), 'agentproto-pictures-'))
const shop = join(user, 'shop')
const folders = { shop, site: join(user, 'site'), tools: join(user, 'tools') }
for (const folder of ['shop/src', 'shop/scripts', 'site', 'tools']) mkdirSync(join(user, folder), { recursive: true })
writeFileSync(join(shop, 'src', 'prices.ts'), PRICES)
writeFileSync(join(shop, 'scripts', 'round.sh'), ROUND)
/** How long ago it is for the gateway, in milliseconds. */
let behindMs = 50 * 60_000
const clock = { ...systemClock, now: () => Date.now() - behindMs }
const gateway = await createGateway({
  home: join(user, '.agentproto'),
  cwd: shop,
  clock,
  env: { ...process.env, HOME: user, XDG_STATE_HOME: join(user, 'state') },
})
const browser = await chromium.launch({
  executablePath: findProgram('chromium'),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'],
})
try {
  const { url, token } = await gateway.listen({ port: 0 })
  const client = createClient({ url, token })
  const id = await sessionsOf(client)
  for (const [screen, viewport] of Object.entries(SCREENS)) {
    const page = await logIn({ client, url, viewport })
    for (const place of placesOf(id)) await picture(page, place, screen)
  }
  await hostPictures()
} finally {
  await browser.close()
  await gateway.close()
  rmSync(user, { recursive: true, force: true })
}

/** Sessions as somebody has them in the afternoon. @returns the one with changes */
async function sessionsOf(client) {
  for (const [slug, path] of Object.entries(folders)) await client.workspaces.add({ path, slug })
  const start = async (label, workspaceSlug) =>
    (await client.sessions.start({ adapter: 'demo', workspaceSlug, label })).id
  const id = await start('price rounding', 'shop')
  const prompts = [
    'usage 0.31 38200',
    'think how totals are rounded; read src/prices.ts',
    'plan; run sh scripts/round.sh; write notes/rounding.md Totals are rounded once, at the end.',
  ]
  for (const prompt of prompts) await client.sessions.promptAndWait(id, { prompt })
  const asking = [
    ['release notes', 'site', 'ask CHANGELOG.md - Totals are rounded once, at the end.', 'usage 0.12 21400'],
    ['clean up', 'tools', 'disguise rm -rf build coverage', 'usage 0.2 30100'],
    ['new colours', 'site', 'question Which colour has the button?', 'usage 0.08 9800'],
  ]
  for (const [label, workspace, prompt, before] of asking) {
    behindMs -= 12 * 60_000
    const waiting = await start(label, workspace)
    await client.sessions.promptAndWait(waiting, { prompt: before })
    await client.sessions.prompt(waiting, { prompt })
    while ((await client.sessions.requests(waiting)).length === 0) await new Promise((done) => setTimeout(done, 20))
  }
  behindMs = 0
  return id
}

/** Machines as somebody has them at work, one of which has left. */
async function hostPictures() {
  const nats = await launchNats(1)
  const key = join(user, 'fleet.key')
  writeFileSync(key, randomBytes(32).toString('base64url'), { mode: 0o600 })
  const servers = nats.servers.map(({ url }) => url)
  const joinAs = (host, labels) => joined({ host, labels, servers, key })
  const hosts = []
  try {
    hosts.push(await joinAs('laptop', {}))
    hosts.push(await joinAs('workstation', { gpu: 'yes', room: 'office' }))
    hosts.push(await joinAs('build-1', { room: 'cellar' }))
    hosts.push(await joinAs('build-2', { room: 'cellar' }))
    const [{ client, url }] = hosts
    const isJoined = (known) => known.length === 4 && known.every(({ workspaces }) => workspaces.length === 3)
    while (!isJoined(await client.hosts())) await new Promise((done) => setTimeout(done, 50))
    const counts = { laptop: 2, workstation: 5, 'build-1': 3, 'build-2': 1 }
    for (const [on, count] of Object.entries(counts))
      for (let nth = 0; nth < count; nth += 1)
        await client.sessions.start({ adapter: 'demo', workspaceSlug: 'shop', label: `task ${nth + 1} on ${on}`, on })
    const isReported = (known) => known.every(({ name, liveSessions }) => liveSessions === counts[name])
    while (!isReported(await client.hosts())) await new Promise((done) => setTimeout(done, 50))
    await hosts[3].gateway.close()
    for (const [screen, viewport] of Object.entries(SCREENS)) {
      const page = await logIn({ client, url, viewport })
      await picture(page, { name: 'hosts', address: '#/hosts', sign: '.state.unreachable' }, screen)
    }
  } finally {
    await Promise.all(hosts.map((host) => host.gateway.close()))
    await nats.stop()
  }
}

async function joined(cluster) {
  const home = join(user, cluster.host)
  const shared = { ...process.env, HOME: user, XDG_STATE_HOME: join(user, 'state') }
  const joining = await createGateway({ home, cwd: shop, cluster, env: shared })
  const { url, token } = await joining.listen({ port: 0 })
  const client = createClient({ url, token })
  for (const [slug, path] of Object.entries(folders)) await client.workspaces.add({ path, slug })
  return { gateway: joining, client, url }
}

async function logIn({ client, url, viewport }) {
  const context = await browser.newContext({ viewport, colorScheme: 'light', reducedMotion: 'reduce' })
  const page = await context.newPage()
  const { code } = await client.browserCode()
  await page.goto(`${url}/console/#code=${code}/`)
  await page.getByText('Connected', { exact: true }).waitFor({ state: 'attached' })
  return page
}

/** What has to be there before a picture is taken. */
function placesOf(id) {
  return [
    { name: 'needs-you', address: '#/', sign: 'article.request' },
    { name: 'sessions', address: '#/sessions', sign: '.row' },
    { name: 'session', address: `#/sessions/${id}`, sign: '.turn-end', open: 'Write notes/rounding.md' },
    { name: 'changes', address: `#/sessions/${id}/changes`, sign: '.patch', open: 'prices.ts' },
    { name: 'usage', address: '#/usage', sign: 'svg', choose: 'workspace' },
    { name: 'settings', address: '#/settings', sign: 'main li' },
  ]
}

async function picture(page, { name, address, sign, open, choose }, screen) {
  await page.evaluate((to) => (location.hash = to), address)
  await page.locator(sign).last().waitFor()
  if (open !== undefined) await page.locator('summary, .file', { hasText: open }).last().click()
  if (choose !== undefined) await page.locator('main select').first().selectOption(choose)
  await page.mouse.move(0, 0)
  // Answers that a place asks for one after the other.
  await page.waitForTimeout(300)
  await page.evaluate(withoutMachine, [user, hostname()])
  await page.screenshot({ path: fileURLToPath(new URL(`../docs/console-${name}-${screen}.png`, import.meta.url)) })
}

/** Runs in the page: the temporary folder is shown as a home, the machine has another name, and no date is shown. */
function withoutMachine([folder, machine]) {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode())
    walker.currentNode.data = walker.currentNode.data
      .replaceAll(folder, '/home/you')
      .replaceAll(/[,;] (?:until|since) \d[\d/]+, [\d:]+ [AP]M/g, '')
      .replace(/^\d[\d/]+, [\d:]+ [AP]M$/, '9:41:03 AM')
      .replace(new RegExp(`^${machine}(?=,)`), 'workstation')
}
