import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { startMockLlm } from './mock-llm/start-mock-llm.js'
import { type ConsoleGateway, openConsole, type OpenedConsole } from './support/console.js'
import { connectionOf, prompt, transcript } from './support/console-session.js'
import { startDaemon } from './support/daemon.js'
import { requireInstalled } from './support/driven-agent.js'
import { openCodeEnvironment, startOpenCodeGateway } from './support/opencode.js'
import { git, repository } from './support/repository.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A real agent in a real browser. It cannot ask questions with a form: that is tested with the demo agent.

/** OpenCode starts slowly while other tests run. */
const PATIENCE_MS = 90_000

async function patientConsole(gateway: ConsoleGateway, place = '/'): Promise<OpenedConsole> {
  const opened = await openConsole(gateway, { place })
  opened.page.setDefaultTimeout(PATIENCE_MS)
  return opened
}

const idOf = (page: Page): string => page.url().split('/').at(-1) ?? ''

/** Starts OpenCode from the dialog, in a worktree of the repository, and goes to its session. */
async function startInWorktree(gateway: ConsoleGateway, page: Page, text: string): Promise<string> {
  await page.goto(`${gateway.url}/console/#/sessions`)
  await page.getByRole('button', { name: 'Start a session' }).click()
  const dialog = page.getByRole('dialog', { name: 'Start a session' })
  await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('opencode')
  await dialog.getByRole('checkbox', { name: 'in a git worktree of its own' }).check()
  await dialog.getByRole('textbox', { name: 'Prompt' }).fill(text)
  await dialog.getByRole('button', { name: 'Start', exact: true }).click()
  await page.waitForURL(/#\/sessions\/[^/]+$/)
  return idOf(page)
}

/** Presses an answer once presses on the card count. */
async function answer(page: Page, name: RegExp): Promise<void> {
  const button = page.getByRole('article').first().getByRole('button', { name })
  await button.waitFor()
  const from = await page.evaluate(() => performance.now())
  await page.waitForFunction((start) => performance.now() - start > 300, from)
  await button.click()
}

test(
  '15.9 OpenCode in a worktree: its stream, a permission with its change, the file, a rewind and a merge',
  needs('chromium', 'opencode'),
  async () => {
    const gateway = await startOpenCodeGateway()
    const folder = await repository(gateway)
    const { page, problems, foreign } = await patientConsole(gateway)
    const id = await startInWorktree(gateway, page, 'SAY 40')
    await transcript(page)
      .getByText(/chunk-1 .*chunk-40/)
      .waitFor()
    await prompt(page, 'WRITE hello.txt')
    await page.getByRole('article').getByText('mock wrote hello.txt').first().waitFor()
    await answer(page, /Allow once/)
    await transcript(page).getByText(/DONE/).waitFor()
    const { worktree } = await gateway.client.sessions.get(id)
    const written = join(worktree?.path ?? '', 'hello.txt')
    expect(readFileSync(written, 'utf8')).toBe('mock wrote hello.txt\n')

    await page.getByRole('link', { name: 'Changes' }).click()
    await page.getByRole('region', { name: 'Patch' }).getByText('+ mock wrote hello.txt').waitFor()
    await page.getByText('Rewind files').click()
    await page.getByRole('button', { name: 'Show what would change' }).click()
    await page.getByRole('button', { name: 'Rewind 1 file' }).click()
    await page.getByText('No changed files.').waitFor()
    expect(existsSync(written)).toBe(false)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('region', { name: 'Patch' }).getByText('+ mock wrote hello.txt').waitFor()
    await page.getByText('Worktree on').click()
    await page.getByRole('button', { name: 'Merge', exact: true }).click()
    await page
      .getByRole('group', { name: /^Merge / })
      .getByRole('button', { name: 'Merge', exact: true })
      .click()
    await page.getByText(/^main is now at/).waitFor()
    expect(git(folder, 'show', 'main:hello.txt')).toBe('mock wrote hello.txt')
    expect({ problems, foreign }).toEqual({ problems: [], foreign: [] })
  },
)

test(
  '15.9 OpenCode is denied, interrupted, prompted in a queue and killed; another browser answers first',
  needs('chromium', 'opencode'),
  async () => {
    const gateway = await startOpenCodeGateway()
    await repository(gateway)
    const { page, problems } = await patientConsole(gateway)
    const id = await startInWorktree(gateway, page, 'WRITE denied.txt')
    await answer(page, /Deny once/)
    const { worktree } = await gateway.client.sessions.get(id)
    await gateway.client.sessions.waitTurn(id, 1)
    expect(existsSync(join(worktree?.path ?? '', 'denied.txt'))).toBe(false)

    await prompt(page, 'SLOW 500')
    await transcript(page).getByText('slow-3').waitFor()
    await prompt(page, 'queued words')
    await page.getByText('1 prompt is queued').click()
    await page.getByRole('button', { name: /^Take prompt/ }).click()
    await page.getByText('1 prompt is queued').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Interrupt', exact: true }).click()
    await transcript(page).getByText('Interrupted').first().waitFor()
    await prompt(page, 'hello again')
    await transcript(page).getByText('echo: hello again').waitFor()
    expect(await page.getByText('echo: queued words').count()).toBe(0)

    await prompt(page, 'RUN echo hello')
    const { page: other } = await patientConsole(gateway)
    await answer(other, /Allow once/)
    await page.getByText(/^Answered by .+\.$/).waitFor()
    await transcript(page).getByText(/DONE/).waitFor()

    await page.getByText('Settings and actions').click()
    await page.getByRole('button', { name: 'Kill…' }).click()
    await page.getByRole('button', { name: 'Kill', exact: true }).click()
    await transcript(page).getByText('Ended: user_canceled').waitFor()
    expect(gateway.mark.living()).toEqual([])
    expect(problems).toEqual([])
  },
)

test(
  '15.4 the commands, models and modes of OpenCode are offered, and taken',
  needs('chromium', 'opencode'),
  async () => {
    const gateway = await startOpenCodeGateway()
    await repository(gateway)
    const { id } = await gateway.client.sessions.start({ adapter: 'opencode', workspaceSlug: 'repo' })
    const { page } = await patientConsole(gateway, `/sessions/${id}`)
    const box = page.getByRole('textbox', { name: 'Prompt' })
    await expect
      .poll(async () => (await gateway.client.sessions.get(id)).config?.commands?.length ?? 0)
      .toBeGreaterThan(0)
    await box.fill('/')
    const commands = page.getByRole('list', { name: /^Commands of the agent/ })
    await commands.waitFor()
    const [first = ''] = await commands.getByRole('button').allInnerTexts()
    await box.press('Tab')
    expect(await box.inputValue()).toBe(`${/^\/\S+/.exec(first)?.[0]} `)
    expect(await commands.count()).toBe(0)
    await box.fill('/no-such-command')
    expect(await commands.count()).toBe(0)
    await page.getByText('Settings and actions').click()
    await page.getByRole('combobox', { name: 'Model', exact: true }).selectOption({ label: 'Mock/Mock Two' })
    await expect.poll(async () => (await gateway.client.sessions.get(id)).config?.modelId).toBe('mock/mock-2')
    await page.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('plan')
    await expect.poll(async () => (await gateway.client.sessions.get(id)).config?.modeId).toBe('plan')
  },
)

test('15.9 OpenCode goes on after its gateway was killed in mid-turn', needs('chromium', 'opencode'), async () => {
  const home = temporaryFolder('console')
  const mock = await startMockLlm()
  onTestFinished(() => mock.close())
  const bin = temporaryFolder('bin')
  symlinkSync(requireInstalled('opencode'), join(bin, 'opencode'))
  const { HOME: _, XDG_STATE_HOME: __, ...agent } = openCodeEnvironment(home, mock.url)
  const env = { ...agent, PATH: `${bin}:${process.env['PATH'] ?? ''}` }
  const daemon = await startDaemon({ home, keeper: false, env })
  const { port } = new URL(daemon.url)
  await repository(daemon)
  const { page } = await patientConsole(daemon)
  const id = await startInWorktree(daemon, page, 'my number is 4711')
  await transcript(page).getByText('echo: my number is 4711').waitFor()
  await prompt(page, 'SLOW 500')
  await transcript(page).getByText('slow-3').waitFor()
  await daemon.crash()
  await expect.poll(() => connectionOf(page)).toBe('The gateway does not answer; trying again')
  const again = await startDaemon({ home, env, args: ['--port', port] })
  await expect.poll(() => connectionOf(page)).toBe('Connected')
  await expect.poll(async () => (await again.client.sessions.get(id)).state).toBe('asleep')
  await prompt(page, 'hello after the crash')
  await transcript(page).getByText('echo: hello after the crash').waitFor()
  expect(await transcript(page).getByText('echo: my number is 4711').count()).toBe(1)
  await again.client.sessions.kill(id)
})
