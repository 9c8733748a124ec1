import type { Client } from '@agentproto/client'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { connectionOf, prompt, transcript, wholeTranscript } from './support/console-session.js'
import { startDaemon } from './support/daemon.js'
import { startGateway } from './support/gateway.js'
import { repository } from './support/repository.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A connection that breaks: every event of the log is in the transcript once, and the state line is true.

const AWAY = 'The gateway does not answer; trying again'

/** The words of the demo agent's stream that are in the log. */
async function logged({ sessions }: Client, id: string): Promise<readonly string[]> {
  let text = ''
  for (let after = 0; ;) {
    const { events } = await sessions.eventsPage(id, after, 1_000)
    for (const event of events) if (event.type === 'text-delta') text += event.text
    if (events.length === 0) return wordsOf(text)
    after = events.at(-1)?.seq ?? after
  }
}

const wordsOf = (text: string): readonly string[] => text.match(/chunk \d+\b/g) ?? []

/** The same words as they are on the page, in its order. */
const rendered = async (page: Page): Promise<readonly string[]> => wordsOf((await wholeTranscript(page)).join('\n'))

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `chunk ${index + 1}`)

test('15.8 a reload in mid-stream shows every event once', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  const { page, problems } = await openConsole(gateway, { place: `/sessions/${id}` })
  await prompt(page, 'stream 600 5')
  for (const seen of ['chunk 20', 'chunk 120', 'chunk 250']) {
    await expect.poll(async () => (await logged(gateway.client, id)).includes(seen)).toBe(true)
    await page.reload()
    await transcript(page).getByText('chunk').first().waitFor()
  }
  await gateway.client.sessions.waitTurn(id, 1)
  await expect.poll(() => rendered(page)).toEqual(numbered(600))
  expect(await logged(gateway.client, id)).toEqual(numbered(600))
  expect(problems).toEqual([])
})

test('15.8 a laptop that sleeps in mid-stream and wakes shows every event once', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  const { page, context, problems } = await openConsole(gateway, { place: `/sessions/${id}` })
  await prompt(page, 'stream 600 5')
  await transcript(page).getByText('chunk').first().waitFor()
  await context.setOffline(true)
  await expect.poll(() => connectionOf(page)).toBe(AWAY)
  await gateway.client.sessions.waitTurn(id, 1)
  await context.setOffline(false)
  await expect.poll(() => connectionOf(page)).toBe('Connected')
  await expect.poll(() => rendered(page)).toEqual(numbered(600))
  await prompt(page, 'after the sleep')
  await transcript(page).getByText('echo: after the sleep').waitFor()
  expect(problems).toEqual([])
})

test(
  '15.8 a session that is opened while the gateway is away is shown when it is back',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd, label: 'opened late' })
    await gateway.client.sessions.promptAndWait(id, { prompt: 'hello' })
    const { page, context } = await openConsole(gateway, { place: '/sessions' })
    await page.getByText('opened late').waitFor()
    await context.setOffline(true)
    await expect.poll(() => connectionOf(page)).toBe(AWAY)
    await page.getByText('opened late').click()
    await page.getByRole('heading', { name: 'opened late' }).waitFor()
    await prompt(page, 'sent while away')
    await page.locator('.prompt-box').getByRole('alert').filter({ hasText: /\S/ }).waitFor()
    expect(await page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe('sent while away')
    await context.setOffline(false)
    await transcript(page).getByText('echo: hello').waitFor()
    await page.getByRole('textbox', { name: 'Prompt' }).press('Enter')
    await transcript(page).getByText('echo: sent while away').waitFor()
    expect((await gateway.client.sessions.turns(id)).length).toBe(2)
  },
)

test('15.8 two tabs show the same, each event once, and what one does is in the other', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  const { page: one, context } = await openConsole(gateway, { place: `/sessions/${id}` })
  const other = await context.newPage()
  await other.goto(one.url())
  await prompt(one, 'stream 300 2')
  await prompt(other, 'from the other tab')
  for (const page of [one, other]) await transcript(page).getByText('echo: from the other tab').waitFor()
  for (const page of [one, other]) await expect.poll(() => rendered(page)).toEqual(numbered(300))
  await one.getByText('Settings and actions').click()
  await one.getByRole('textbox', { name: 'Title' }).fill('renamed here')
  await one.getByRole('button', { name: 'Rename' }).click()
  await other.getByRole('heading', { name: 'renamed here' }).waitFor()
})

test('15.8 ten tabs of one browser all work', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  const { page: first, context } = await openConsole(gateway, { place: `/sessions/${id}` })
  const tabs = [first]
  for (let count = 1; count < 10; count++) {
    const tab = await context.newPage()
    tabs.push(tab)
    await tab.goto(first.url())
    await tab.bringToFront()
    await prompt(tab, `from tab ${count}`)
    await transcript(tab).getByText(`echo: from tab ${count}`).waitFor()
  }
  for (const tab of tabs) {
    await tab.bringToFront()
    await transcript(tab).getByText('echo: from tab 9').waitFor()
  }
  expect((await gateway.client.sessions.get(id)).turnCount).toBe(9)
})

test(
  '15.8 a gateway that is killed in mid-turn and back wakes the session with the next prompt',
  needs('chromium'),
  async () => {
    const home = temporaryFolder('console')
    const daemon = await startDaemon({ home, keeper: false })
    const { port } = new URL(daemon.url)
    await repository(daemon)
    const { id } = await daemon.client.sessions.start({ adapter: 'demo', workspaceSlug: 'repo' })
    const { page } = await openConsole(daemon, { place: `/sessions/${id}` })
    await prompt(page, 'stream 20000 5')
    await transcript(page).getByText('chunk').first().waitFor()
    await daemon.crash()
    await expect.poll(() => connectionOf(page)).toBe(AWAY)
    const again = await startDaemon({ home, args: ['--port', port] })
    await expect.poll(() => connectionOf(page)).toBe('Connected')
    await expect.poll(async () => (await again.client.sessions.get(id)).state).toBe('asleep')
    await prompt(page, 'and again')
    await transcript(page).getByText('echo: and again').waitFor()
    const words = await logged(again.client, id)
    await expect.poll(() => rendered(page)).toEqual(words)
    expect(words).toEqual(numbered(words.length))
  },
)

test('15.8 a revoked login says how to get in, and the next one sees only what it may', needs('chromium'), async () => {
  const gateway = await startGateway()
  await repository(gateway)
  const { sessions, workspaces, tokens } = gateway.client
  await workspaces.add({ path: gateway.cwd, slug: 'secret' })
  await sessions.start({ adapter: 'demo', workspaceSlug: 'secret', label: 'not for all' })
  await sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label: 'for all' })
  const { page } = await openConsole(gateway, { place: '/sessions' })
  await page.getByText('not for all').waitFor()
  for (const { name } of await tokens.list()) await tokens.revoke(name)
  await page.getByText('agentproto open').waitFor()
  const { code } = await gateway.client.browserCode({ scope: 'read', workspaces: ['repo'] })
  await page.getByLabel('Code').fill(code)
  await page.keyboard.press('Enter')
  await page.getByText('for all', { exact: true }).waitFor()
  expect(await page.getByText('not for all').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Start a session' }).count()).toBe(0)
})
