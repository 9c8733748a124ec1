import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { found, isWiderThanScreen } from './support/axe.js'
import { openBrowser, openConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { ownAdapter } from './support/own-adapter.js'
import { addRemoteAdapter } from './support/remote-adapter.js'
import { temporaryFolder } from './support/temporary-folder.js'

// What can be set in the console: what a start chooses, agents, tokens, rules and the gateway.

/** What the tests read of an input: they are compiled without the types of a browser. */
interface HTMLInput {
  readonly validity: { readonly rangeOverflow: boolean }
}

const CHOICES = {
  setup: [],
  modes: [
    { id: 'plan', description: 'Reports what it would do', bin_args_append: ['--mode', 'plan'] },
    { id: 'default' },
  ],
  options: [
    { id: 'model', type: 'enum', enum: ['demo-1', 'demo-2'], bin_args_template: ['--model', '{value}'] },
    { id: 'steps', type: 'integer', min: 1, max: 9, description: 'At most so many', env: { OWN_STEPS: '{value}' } },
    { id: 'fast', type: 'boolean', env: { OWN_FAST: '{value}' } },
  ],
}

test(
  '15.3 a start offers the modes and options of the agent with their values and bounds, and sends what was chosen',
  needs('chromium'),
  async () => {
    const { client, ...gateway } = await startGateway()
    await client.adapters.add(ownAdapter(CHOICES))
    for await (const _ of client.adapters.provision('own', { until: 'install' }));
    await client.workspaces.add({ path: gateway.cwd, slug: 'work', use: true })
    const { page, problems } = await openConsole({ client, ...gateway }, { place: '/sessions' })
    await page.getByRole('button', { name: 'Start a session' }).click()
    const dialog = page.getByRole('dialog', { name: 'Start a session' })
    await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('own')
    await dialog.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('plan')
    await dialog.getByText('Reports what it would do').waitFor()
    const options = dialog.getByRole('group', { name: 'Options of own' })
    expect(await options.getByRole('combobox', { name: 'model' }).locator('option').allTextContents()).toEqual([
      'as the agent starts',
      'demo-1',
      'demo-2',
    ])
    await options.getByRole('combobox', { name: 'model' }).selectOption('demo-2')
    const steps = options.getByRole('spinbutton', { name: 'steps' })
    expect(await steps.getAttribute('aria-describedby')).not.toBeNull()
    await steps.fill('12')
    await options.getByRole('checkbox', { name: 'fast' }).check()
    await dialog.getByRole('textbox', { name: 'Prompt' }).fill('hello')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    expect(await steps.evaluate((input) => (input as unknown as HTMLInput).validity.rangeOverflow)).toBe(true)
    expect((await client.sessions.list()).sessions).toEqual([])
    await steps.fill('7')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL(/#\/sessions\/[^/]+$/)
    const id = page.url().split('/').at(-1) ?? ''
    const { config } = await client.sessions.get(id)
    expect(config).toMatchObject({ modeId: 'plan', modelId: 'demo-2' })
    await page.getByText('Settings and actions').click()
    const mode = page.getByRole('combobox', { name: 'Mode', exact: true })
    const about = (await mode.getAttribute('aria-describedby')) ?? 'none'
    expect(await page.locator(`[id="${about}"]`).textContent()).not.toBe('')
    expect(problems).toEqual([])
  },
)

/** The settings, with the own agent found and opened. */
async function openAgent(gateway: TestGateway): Promise<Locator> {
  const { page } = await openConsole(gateway, { place: '/settings' })
  await page.getByRole('searchbox', { name: 'Search in the agents' }).fill('DEMO behind')
  await page.getByText(/^1 of \d+ agents$/).waitFor()
  const row = page.getByRole('region', { name: 'Agents' }).getByRole('listitem').filter({ hasText: 'behind a setup' })
  await row.locator('summary').click()
  return row
}

test(
  '15.6 an agent is found, installed with its progress, set up with a secret that is never shown, and checked',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    await gateway.client.adapters.add(ownAdapter())
    const row = await openAgent(gateway)
    await row.getByText('not installed; needs *').waitFor()
    await row.getByRole('button', { name: 'Install own', exact: true }).click()
    await row.getByRole('group', { name: 'Progress of own' }).getByText('version_check · done').waitFor()
    await row.getByText('pending').first().waitFor()
    const sent: string[] = []
    row.page().on('request', (request) => sent.push(request.url()))
    await row.getByRole('textbox', { name: 'Which shop?' }).fill('corner')
    const secret = row.getByLabel('Its key?')
    expect(await secret.getAttribute('type')).toBe('password')
    await secret.fill('own-key-4711')
    await row.getByRole('button', { name: 'Set up own' }).click()
    await row.getByText('key: done').waitFor()
    expect(await gateway.client.adapters.state('own')).toMatchObject({ ready: true })
    expect(await row.page().content()).not.toContain('4711')
    expect(sent.join(' ')).not.toContain('4711')
    await row.getByRole('button', { name: 'Check own', exact: true }).click()
    const findings = row.getByRole('list', { name: 'Findings' })
    await findings.getByText('Setup: 2 of 2 steps').waitFor()
    expect(await findings.getByText('Failed').count()).toBe(0)
    await row.getByRole('button', { name: 'Remove own' }).click()
    await row
      .getByRole('group', { name: /^Remove the adapter/ })
      .getByRole('button', { name: 'Remove own' })
      .click()
    await row.waitFor({ state: 'detached' })
    await expect(gateway.client.adapters.get('own')).rejects.toMatchObject({ code: 'adapter_not_found' })
  },
)

test(
  '15.6 the removal of an agent that runs elsewhere names the consent that no adapter needs any more',
  needs('chromium'),
  async () => {
    const home = temporaryFolder('home')
    addRemoteAdapter(home, { slug: 'build', url: 'http://127.0.0.1:9001', token: 'of another gateway' })
    const gateway = await startGateway({ home: join(home, '.agentproto') })
    const { page, problems } = await openConsole(gateway, { place: '/settings' })
    const agents = page.getByRole('region', { name: 'Agents' })
    await page.getByRole('searchbox', { name: 'Search in the agents' }).fill('build')
    const row = agents.getByRole('listitem').filter({ has: page.getByText('added by the owner') })
    await row.locator('summary').click()
    await confirm(row, 'Remove build')
    await row.waitFor({ state: 'detached' })
    await agents.getByText('No other adapter needs 127.0.0.1:9001: the owner').waitFor()
    expect(problems).toEqual([])
  },
)

test(
  '15.6 an installation that fails says why, and the login of an agent is a command',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const auth = { ref: './SECRETS.md', state: { paths: ['~/.own'] }, login: { cmd: 'own-agent login' } }
    const slug = { slug: 'own/key', name: 'Key', description: 'A key', exposures: [{ kind: 'env', name: 'OWN_KEY' }] }
    const source = ownAdapter({ setup: [], auth, version_check: NEVER }, { secrets: [slug] })
    await gateway.client.adapters.add(source)
    const row = await openAgent(gateway)
    await row.getByRole('button', { name: 'Install own', exact: true }).click()
    await row.getByRole('alert').filter({ hasText: 'The version of own does not match' }).waitFor()
    await row.getByText('which is not supported').waitFor()
    await row.getByText('needs a terminal on the machine of the gateway').waitFor()
    expect(await row.getByRole('group', { name: 'Login of own' }).textContent()).toBe('agentproto adapters login own')
    await row.getByRole('button', { name: 'Check own', exact: true }).click()
    const findings = row.getByRole('list', { name: 'Findings' })
    await findings.getByText('Failed').first().waitFor()
    await findings.getByText('agentproto adapters install own --force').waitFor()
  },
)

const NEVER = { cmd: 'own-agent --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '>=99.0.0' }

async function confirm(place: Locator, name: string): Promise<void> {
  await place.getByRole('button', { name, exact: true }).click()
  await place.getByRole('group').getByRole('button', { name, exact: true }).click()
}

test(
  '15.6 a token is created, rotated and revoked; the login of this browser is marked, and ends for all its pages',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    await gateway.client.workspaces.add({ path: gateway.cwd, slug: 'work', use: true })
    const { page } = await openConsole(gateway, { place: '/settings' })
    const tokens = page.getByRole('region', { name: 'Tokens' })
    await tokens.getByRole('textbox', { name: 'Name' }).fill('board')
    await tokens.getByRole('checkbox', { name: 'work' }).check()
    await tokens.getByRole('button', { name: 'Create token' }).click()
    const shownToken = tokens.getByRole('group', { name: 'Token', exact: true })
    const first = (await shownToken.textContent()) ?? ''
    const row = tokens.getByRole('listitem').filter({ hasText: 'board' })
    await row.getByText('may only look in work').waitFor()
    await row.getByText('never used').waitFor()
    const status = async (token: string): Promise<number> =>
      (await fetch(`${gateway.url}/sessions`, { headers: { authorization: `Bearer ${token}` } })).status
    expect(await status(first)).toBe(200)
    await confirm(row, 'Rotate board')
    await expect.poll(() => shownToken.textContent()).not.toBe(first)
    const second = (await shownToken.textContent()) ?? ''
    expect([await status(first), await status(second)]).toEqual([401, 200])
    await page.reload()
    await row.getByText('last used').waitFor()
    expect(await page.content()).not.toContain(second)
    await confirm(row, 'Revoke board')
    await row.waitFor({ state: 'detached' })
    expect(await status(second)).toBe(401)
    const own = tokens.getByRole('listitem').filter({ hasText: 'the login of this browser' })
    expect(await own.getByRole('button', { name: /^Rotate/ }).count()).toBe(0)
    const other = await page.context().newPage()
    await other.goto(`${gateway.url}/console/#/sessions`)
    await other.getByRole('navigation', { name: 'Places' }).waitFor()
    const name = (await own.getByRole('button', { name: /^Revoke/ }).textContent()) ?? ''
    await confirm(own, name)
    await page.getByText('agentproto open').waitFor()
    await other.getByText('agentproto open').waitFor()
  },
)

test('15.6 a browser logs out, and another one stays', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { page } = await openConsole(gateway, { place: '/settings' })
  const { page: other } = await openConsole(gateway, { place: '/settings' })
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByText('agentproto open').waitFor()
  expect(await page.context().cookies()).toEqual([])
  await other.reload()
  await other.getByRole('button', { name: 'Log out' }).waitFor()
})

test(
  '15.6 all rules are seen with where they hold and who made them, removed, and made with all that they cover in view',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { client, cwd } = gateway
    await client.workspaces.add({ path: cwd, slug: 'work', use: true })
    const session = await client.sessions.start({ adapter: 'demo', cwd, title: 'a fix' })
    await client.permissions.add({ sessionId: session.id }, { decision: 'allow', command: 'npm test \u202Exx' })
    const { page } = await openConsole(gateway, { place: '/settings' })
    const rules = page.getByRole('region', { name: 'Permission rules' })
    const ofSession = rules.getByRole('listitem').filter({ hasText: 'a fix' })
    await ofSession.getByText('every call, if each of its commands is npm test ⟨U+202E⟩xx').waitFor()
    await ofSession.getByText(/also when it is resumed/).waitFor()
    await ofSession.getByText(/made by owner/).waitFor()
    await rules.getByText('Make a rule').click()
    const make = rules.getByRole('button', { name: 'Make this rule' })
    expect(await make.isDisabled()).toBe(true)
    await rules.getByRole('combobox', { name: 'Calls of the agent' }).selectOption('execute')
    await rules.getByRole('textbox', { name: 'Command' }).fill('git push **')
    const whole =
      'Deny every call that runs commands a part of which is the command git push **: in every session of the workspace work'
    await rules.getByRole('status').filter({ hasText: whole }).waitFor()
    await make.click()
    await rules.getByRole('listitem').filter({ hasText: 'in every session of the workspace work' }).waitFor()
    expect(await client.permissions.list({ workspaceSlug: 'work' })).toMatchObject([
      { decision: 'deny', match: { toolKind: 'execute', command: 'git push **' } },
    ])
    await ofSession.getByRole('button', { name: /^Remove the rule/ }).click()
    await ofSession.getByRole('button', { name: 'Cancel' }).click()
    expect((await client.permissions.all()).rules).toHaveLength(2)
    await confirm(ofSession, (await ofSession.getByRole('button', { name: /^Remove the rule/ }).textContent()) ?? '')
    await ofSession.waitFor({ state: 'detached' })
    expect((await client.permissions.all()).rules).toHaveLength(1)
  },
)

test(
  '15.6 the settings show the gateway, its home, its budgets and its notifications; workspaces have names and words',
  needs('chromium'),
  async () => {
    const budgets = { workspaces: { shop: { day: { turns: 5 } } } }
    const home = temporaryFolder('home')
    const command = [process.execPath, '-e', '']
    const gateway = await startGateway({ home, sessions: { budgets }, notify: { command } })
    const { page, problems } = await openConsole(gateway, { place: '/settings' })
    await page.getByText(home).waitFor()
    await page.getByText(/^works, version /).waitFor()
    await page.getByText('the workspace shop, each day: 5 turns').waitFor()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/: delivered$/).waitFor()
    const workspaces = page.getByRole('region', { name: 'Workspaces' })
    await workspaces.getByRole('textbox', { name: 'Folder' }).fill(gateway.cwd)
    await workspaces.getByRole('textbox', { name: 'Name' }).fill('shop-2')
    await workspaces.getByRole('textbox', { name: 'Description' }).fill('The shop')
    await workspaces.getByRole('button', { name: 'Add workspace' }).click()
    await workspaces.getByRole('listitem').filter({ hasText: 'The shop' }).waitFor()
    await confirm(workspaces.getByRole('listitem').filter({ hasText: 'The shop' }), 'Remove shop-2')
    await workspaces.getByRole('listitem').waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  },
)

for (const scope of ['read', 'operate'] as const)
  test(
    `15.6 a login with the scope ${scope} sees the settings, and nothing that would be refused`,
    needs('chromium'),
    async () => {
      const gateway = await startGateway()
      await gateway.client.workspaces.add({ path: gateway.cwd, slug: 'work', use: true })
      const { code } = await gateway.client.browserCode({ scope })
      const { page } = await openBrowser(gateway, { width: 390, height: 844 })
      const refused: string[] = []
      page.on('response', (response) => response.status() === 403 && refused.push(response.url()))
      await page.goto(`${gateway.url}/console/#code=${code}/settings`)
      await page.getByRole('button', { name: 'Log out' }).waitFor()
      await page.getByRole('region', { name: 'Agents' }).locator('summary').first().click()
      await page.getByText(/; needs /).waitFor()
      for (const name of ['Tokens', 'Permission rules', 'Notifications'])
        expect(await page.getByRole('region', { name }).count()).toBe(0)
      const buttons = await page.getByRole('main').getByRole('button').allTextContents()
      expect(buttons.filter((text) => text !== 'Copy')).toEqual(['Log out'])
      expect(refused).toEqual([])
      await page.getByRole('button', { name: 'Log out' }).click()
      await page.getByText('agentproto open').waitFor()
    },
  )

for (const colorScheme of ['light', 'dark'] as const)
  test(
    `15.7 axe finds nothing in opened settings and the start dialog, on a phone, ${colorScheme}`,
    needs('chromium'),
    async () => {
      const gateway = await startGateway()
      const { client, cwd } = gateway
      await client.adapters.add(ownAdapter({ ...CHOICES, setup: SETUP }))
      for await (const _ of client.adapters.provision('own', { until: 'install' }));
      await client.workspaces.add({ path: cwd, slug: 'work', label: 'Work', use: true })
      await client.permissions.add({ workspaceSlug: 'work' }, { decision: 'deny', command: 'git push **' })
      const { page } = await openConsole(gateway, { place: '/settings', width: 390, height: 844, colorScheme })
      await page.getByRole('searchbox').fill('behind a setup')
      await page.getByRole('region', { name: 'Agents' }).locator('summary').click()
      await page.getByText('Which size?').waitFor()
      expect(await page.locator('a[href^="javascript" i]').count()).toBe(0)
      await page.getByRole('button', { name: 'Check own', exact: true }).click()
      await page.getByRole('list', { name: 'Findings' }).getByText('To do').first().waitFor()
      await page.getByText('Make a rule').click()
      await page.getByRole('textbox', { name: 'Command' }).fill('ls')
      const tokens = page.getByRole('region', { name: 'Tokens' })
      await tokens.getByRole('textbox', { name: 'Name' }).fill('board')
      await tokens.getByRole('button', { name: 'Create token' }).click()
      await tokens.getByText('Copy the token now').waitFor()
      expect([await found(page), await isWiderThanScreen(page)]).toEqual([[], false])
      await page.goto(`${gateway.url}/console/#/sessions`)
      await page.getByRole('button', { name: 'Start a session' }).click()
      await page.getByRole('combobox', { name: 'Agent' }).selectOption('own')
      await page.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('plan')
      await page.getByText('Reports what it would do').waitFor()
      expect([await found(page), await isWiderThanScreen(page)]).toEqual([[], false])
    },
  )

const SETUP = [
  { id: 'reset', kind: 'prompt', prompt: 'Which size?', type: 'select', options: ['small', 'large'] },
  { id: 'sure', kind: 'prompt', prompt: 'Sure?', type: 'boolean', default: 'true' },
  { id: 'page', kind: 'external', url: 'javascript:alert(1)', persist: { env: 'OWN_PAGE' } },
  { id: 'run', kind: 'cmd', cmd: 'own-agent --version', interactive: true },
]

test(
  '15.6 a setup of choices, with a step named after a method of the form, sends what was chosen',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    await gateway.client.adapters.add(ownAdapter({ setup: SETUP.slice(0, 2) }))
    for await (const _ of gateway.client.adapters.provision('own', { until: 'install' }));
    const row = await openAgent(gateway)
    await row.getByRole('combobox', { name: 'Which size?' }).selectOption('large')
    await row.getByRole('checkbox', { name: 'Sure?' }).uncheck()
    await row.getByRole('button', { name: 'Set up own' }).click()
    await row.getByText('sure: done').waitFor()
    await row.getByText('reset: done').waitFor()
    expect(await row.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0)
  },
)
