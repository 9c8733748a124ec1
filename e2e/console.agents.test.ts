import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openBrowser, openConsole } from './support/console.js'
import { prompt, transcript, wholeTranscript } from './support/console-session.js'
import { startDaemon } from './support/daemon.js'
import { startGateway } from './support/gateway.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The console as a person has it: a real browser, the demo agent, and only what is on the screen.

test(
  '15.1 a browser without a login sees how to get in; a code works once, and a wrong one not at all',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { page } = await openBrowser(gateway)
    await page.goto(`${gateway.url}/console/#/sessions`)
    await page.getByText('agentproto open').waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
    await page.getByLabel('Code').fill('agp_c_0000000000000000_x')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'does not know this code' }).waitFor()
    const { code } = await gateway.client.browserCode()
    await page.getByLabel('Code').fill(code)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    const second = await openBrowser(gateway)
    await second.page.goto(`${gateway.url}/console/#code=${code}/`)
    await second.page.getByText('agentproto open').waitFor()
    expect(second.page.url()).not.toContain(code)
  },
)

test(
  '15.4 a prompt streams its answer, a second one is queued, and an interrupt ends the turn',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const session = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
    const { page, foreign, problems } = await openConsole(gateway, { place: `/sessions/${session.id}` })
    await prompt(page, 'hello')
    await transcript(page).getByText('echo: hello').waitFor()
    await prompt(page, 'hang')
    await page.getByRole('button', { name: 'Interrupt', exact: true }).waitFor()
    await prompt(page, 'queued words')
    await expect.poll(async () => (await gateway.client.sessions.get(session.id)).queuedPrompts).toBe(1)
    await page.getByRole('button', { name: 'Interrupt', exact: true }).click()
    await transcript(page).getByText('Interrupted').first().waitFor()
    await expect.poll(async () => (await gateway.client.sessions.get(session.id)).turn.state).toBe('idle')
    expect({ foreign, problems }).toEqual({ foreign: [], problems: [] })
  },
)

test(
  '15.8 a gateway that is killed in mid-turn and comes back loses and repeats nothing',
  needs('chromium'),
  async () => {
    const home = temporaryFolder('console')
    const daemon = await startDaemon({ home, keeper: false })
    const { port } = new URL(daemon.url)
    const session = await daemon.client.sessions.start({ adapter: 'demo', cwd: home })
    const { page } = await openConsole(daemon, { place: `/sessions/${session.id}` })
    const state = page.getByRole('navigation').getByRole('status')
    await expect.poll(() => state.textContent()).toBe('Connected')
    await prompt(page, 'stream 20000 5')
    await transcript(page).getByText('chunk').first().waitFor()
    await daemon.crash()
    await expect.poll(() => state.textContent()).toBe('The gateway does not answer; trying again')
    const again = await startDaemon({ home, args: ['--port', port] })
    await expect.poll(() => state.textContent()).toBe('Connected')
    const said = async (): Promise<string> => {
      const { events } = await again.client.sessions.eventsPage(session.id, 0, 1_000)
      return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
    }
    expect(await said()).toContain('chunk 2\n')
    await expect.poll(async () => wordsOf((await wholeTranscript(page)).join(' '))).toEqual(wordsOf(await said()))
    expect(wordsOf(await said())).toEqual(wordsOf(await said()).map((_, index) => `chunk ${index + 1}`))
  },
)

const wordsOf = (text: string): readonly string[] => text.match(/chunk \d+/g) ?? []

test('15.8 a login that is revoked leads to the page that says how to get in', needs('chromium'), async () => {
  const gateway = await startGateway()
  const session = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  const { page } = await openConsole(gateway, { place: `/sessions/${session.id}` })
  await prompt(page, 'hello')
  await transcript(page).getByText('echo: hello').waitFor()
  for (const { name } of await gateway.client.tokens.list()) await gateway.client.tokens.revoke(name)
  await page.getByText('agentproto open').waitFor()
  expect(await page.getByText('echo: hello').count()).toBe(0)
})
