import type { Client } from '@agentproto/client'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { found, isWiderThanScreen } from './support/axe.js'
import { openConsole } from './support/console.js'
import { prompt, transcript } from './support/console-session.js'
import { type Daemon, startDaemon } from './support/daemon.js'
import { type Fleet, startFleet } from './support/fleet.js'
import { startGateway } from './support/gateway.js'
import { pendingPermission } from './support/pending-request.js'
import { repository } from './support/repository.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The console of host `two` in a fleet of two, whose sessions are on host `one`.

const LEASE_MS = 3_000
const HOSTILE = '<img src=x onerror=alert(1)>\u202E'

/** A fleet with a workspace on both hosts, and one on each. */
async function fleet(options: { readonly keeper?: boolean } = {}): Promise<Fleet> {
  const started = await startFleet({ leaseMs: LEASE_MS, labels: [{ gpu: 'yes' }, { owner: HOSTILE }], ...options })
  const { owner, other } = started
  for (const [{ client }, slugs] of [
    [owner, ['shop', 'only-one']],
    [other, ['shop', 'only-two']],
  ] as const)
    for (const slug of slugs) await client.workspaces.add({ slug, path: temporaryFolder(slug) })
  // Each host has reported its workspaces.
  for (const { client } of [owner, other])
    await expect.poll(async () => (await client.hosts()).flatMap(({ workspaces }) => workspaces)).toHaveLength(4)
  return started
}

const rows = (page: Page): Promise<readonly string[]> => page.locator('main .row strong').allInnerTexts()
const host = (page: Page, name: string): Locator => page.getByRole('listitem', { name, exact: true })
const composer = (page: Page): Locator => page.getByRole('textbox', { name: 'Prompt' })
const runOn = (page: Page): Locator => page.getByRole('dialog').getByRole('combobox', { name: 'Run on' })
const optionsOf = (select: Locator): Promise<readonly string[]> => select.locator('option').allInnerTexts()

async function openDialog(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Start a session' }).click()
  const dialog = page.getByRole('dialog', { name: 'Start a session' })
  await dialog.getByRole('combobox', { name: 'Agent' }).waitFor()
  return dialog
}

const press = (dialog: Locator): Promise<void> => dialog.getByRole('button', { name: 'Start', exact: true }).click()

/** Presses an answer once a person could have read what it is for. */
async function answer(page: Page, name: RegExp): Promise<void> {
  const button = page.getByRole('article').getByRole('button', { name }).first()
  await expect
    .poll(async () => {
      if ((await button.count()) > 0) await button.click({ timeout: 2_000 }).catch(() => undefined)
      return page.getByRole('article').getByText('Too early').count()
    })
    .toBe(0)
}

/** Resolves when the fleet has all of a session that asks for a permission. */
async function published(owner: Daemon, other: Daemon, id: string): Promise<void> {
  const listed = async (): Promise<string | undefined> =>
    (await other.client.sessions.list()).sessions.find((session) => session.id === id)?.state
  await expect.poll(listed).toBe('waiting')
  await expect.poll(async () => (await owner.client.hosts()).find(({ self }) => self === true)?.lag).toBe(0)
}

async function stateAt({ client }: { readonly client: Client }, id: string): Promise<string> {
  return (await client.sessions.get(id)).state
}

test(
  '17.8 a session is started on another host, prompted and answered from here; the list is filtered by host',
  needs('chromium', 'nats-server'),
  async () => {
    const { owner, other } = await fleet()
    const { sessions } = other.client
    await sessions.start({ adapter: 'demo', workspaceSlug: 'shop', label: 'here' })
    await sessions.start({ adapter: 'demo', workspaceSlug: 'shop', label: 'there', on: 'one' })
    const { page, problems, foreign } = await openConsole(other, { place: '/sessions' })
    await expect.poll(async () => (await rows(page)).toSorted()).toEqual(['here', 'there'])
    await page.locator('.session-row').filter({ hasText: 'there' }).getByText('demo · one').waitFor()

    const filter = page.getByRole('combobox', { name: 'on', exact: true })
    expect(await optionsOf(filter)).toEqual(['all hosts', 'one', 'two'])
    await page.getByRole('searchbox', { name: 'Filter' }).fill('e')
    await filter.selectOption('one')
    await expect.poll(() => rows(page)).toEqual(['there'])
    expect(await page.getByRole('searchbox', { name: 'Filter' }).inputValue()).toBe('e')
    expect(page.url()).toContain('#/sessions?host=one')
    await page.reload()
    await expect.poll(() => rows(page)).toEqual(['there'])
    expect(await filter.inputValue()).toBe('one')
    await page.goBack()
    await expect.poll(async () => (await rows(page)).toSorted()).toEqual(['here', 'there'])
    await page.goForward()

    // Also where the hosts are not known yet.
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/hosts', async (route) => {
      await released
      await route.continue()
    })
    await page.reload()
    await openDialog(page)
    expect(await runOn(page).inputValue()).toBe('one')
    await page.keyboard.press('Escape')
    release()
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByRole('link', { name: 'Hosts' }).waitFor()

    const dialog = await openDialog(page)
    expect(await runOn(page).inputValue()).toBe('one')
    const workspace = dialog.getByRole('combobox', { name: 'Workspace' })
    expect(await optionsOf(workspace)).toEqual(['the active one of the host', 'only-one', 'shop'])
    await runOn(page).selectOption('')
    await expect.poll(async () => (await optionsOf(workspace)).join()).toContain('only-two (')
    await runOn(page).selectOption('gpu=yes')
    await workspace.selectOption('only-one')
    await dialog.getByRole('textbox', { name: 'Prompt' }).fill('ask notes.txt')
    await press(dialog)

    const card = page.getByRole('article', { name: 'The agent asks for a permission' })
    await card.waitFor()
    await page.locator('main header').getByRole('link', { name: 'one', exact: true }).first().waitFor()
    const [started] = (await owner.client.sessions.list({ host: 'one', workspace: 'only-one' })).sessions
    expect(started?.hostId).toBe('one')
    await answer(page, /Allow once/)
    await card.waitFor({ state: 'detached' })
    await expect.poll(() => stateAt(owner, started?.id ?? '')).toBe('idle')
    await prompt(page, 'hello over there')
    await transcript(page).getByText('echo: hello over there').waitFor()
    expect({ problems, foreign }).toEqual({ problems: [], foreign: [] })
  },
)

test(
  '17.8 a host is killed: its session says so and can be read, the draft and the question stay, and both work when it is back',
  needs('chromium', 'nats-server'),
  async () => {
    const { owner, ownerHome, other } = await fleet({ keeper: true })
    const { id } = await owner.client.sessions.start({ adapter: 'demo', workspaceSlug: 'shop', label: 'there' })
    await owner.client.sessions.promptAndWait(id, { prompt: 'say before the crash' })
    await owner.client.sessions.prompt(id, { prompt: 'ask notes.txt' })
    await pendingPermission(owner.client, id)
    await published(owner, other, id)
    const { page, problems } = await openConsole(other, { place: `/sessions/${id}` })
    await page.getByRole('article').waitFor()
    await composer(page).fill('what I was writing')

    await owner.crash()
    const killedAt = Date.now()
    await page.getByText('is not heard from since').waitFor()
    // It is not by chance that the page asks for the hosts, which it does each 30 s.
    expect(Date.now() - killedAt).toBeLessThan(5 * LEASE_MS)
    await transcript(page).getByText('before the crash').first().waitFor()
    await expect.poll(() => composer(page).isEditable()).toBe(false)
    expect(await composer(page).inputValue()).toBe('what I was writing')
    await composer(page).press('Enter')
    expect(await page.getByRole('button', { name: /^(Send|Queue)$/ }).isDisabled()).toBe(true)
    await page.getByText('Nothing can be sent while its host').waitFor()
    expect(
      await page
        .getByRole('article')
        .getByRole('button', { name: /Allow once/ })
        .isDisabled(),
    ).toBe(true)
    await page.getByRole('article').getByText('It can be answered when the host is back').waitFor()

    // Also in a page that is opened while the host is away.
    const late = await page.context().newPage()
    await late.goto(`${other.url}/console/#/`)
    await late.getByRole('article').getByText('It can be answered when the host is back').waitFor()
    await late.goto(`${other.url}/console/#/usage`)
    await late.getByText('does not answer: what is there is missing here').waitFor()
    await late.goto(`${other.url}/console/#/hosts`)
    await host(late, 'one').getByText('not heard from since').waitFor()
    await late.getByText('1 of 2 reachable').waitFor()
    expect(
      (await late.getByRole('list', { name: 'Hosts' }).getByRole('listitem').first().innerText()).split('\n')[0],
    ).toBe('one')

    await startDaemon({ home: ownerHome })
    await late.getByText('2 of 2 reachable').waitFor()
    await expect.poll(() => composer(page).isEditable()).toBe(true)
    expect(await composer(page).inputValue()).toBe('what I was writing')
    await expect.poll(() => page.getByText('is not heard from').count()).toBe(0)
    await answer(page, /Allow once/)
    await expect.poll(() => stateAt(other, id)).toBe('idle')
    await composer(page).press('Enter')
    await transcript(page).getByText('echo: what I was writing').waitFor()
    expect(problems).toEqual([])
  },
)

test(
  '17.8 a refused placement is said at its field, with what each host lacks, and nothing that was typed is lost',
  needs('chromium', 'nats-server'),
  async () => {
    const { owner, other } = await fleet()
    const { page, problems } = await openConsole(other, { place: '/sessions?host=nowhere' })
    await page.getByText('No session matches.').waitFor()
    // A host that was forgotten after this page has read the list.
    await page.route('**/hosts', async (route) => {
      const { hosts } = (await (await route.fetch()).json()) as { hosts: readonly { self?: true }[] }
      const known = hosts.find(({ self }) => self !== true)
      await route.fulfill({ json: { hosts: [...hosts, { ...known, name: 'nowhere' }] } })
    })
    const dialog = await openDialog(page)
    const field = runOn(page)
    const text = dialog.getByRole('textbox', { name: 'Prompt' })
    await text.fill('hello')
    await field.selectOption('nowhere')
    await press(dialog)
    await dialog.locator('#placement-problem').getByText('No host of the fleet has this name').waitFor()
    expect(await dialog.locator(':focus').getAttribute('name')).toBe('on')
    await page.unroute('**/hosts')
    await expect.poll(async () => (await optionsOf(field)).join()).toContain('nowhere (gone)')
    expect(await field.inputValue()).toBe('nowhere')

    await field.selectOption('')
    await dialog.getByRole('combobox', { name: 'Workspace' }).selectOption('only-two')
    await field.selectOption('one')
    await press(dialog)
    await dialog.locator('#placement-problem').getByText('one: the workspace only-two').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')

    await dialog.getByRole('combobox', { name: 'Workspace' }).selectOption('shop')
    await dialog.getByText('Advanced').click()
    await dialog.getByRole('combobox', { name: 'If its host is lost' }).selectOption('move')
    await owner.crash()
    await expect.poll(async () => (await optionsOf(field)).join()).toContain('one (not heard from)')
    await press(dialog)
    await dialog.locator('#placement-problem').getByText('The host one was last heard from').waitFor()
    expect(await text.inputValue()).toBe('hello')

    await field.selectOption('any')
    await press(dialog)
    await transcript(page).getByText('echo: hello').waitFor()
    const [session] = (await other.client.sessions.list({ host: 'two' })).sessions
    expect(session).toMatchObject({ hostId: 'two', onHostLoss: 'move', workspaceSlug: 'shop' })
    expect(problems).toEqual([])
  },
)

test(
  '17.8 a session that another host has taken over says where it was and where it is',
  needs('chromium', 'nats-server'),
  async () => {
    const { owner, other } = await fleet()
    const { sessions } = owner.client
    const { id } = await sessions.start({ adapter: 'demo', workspaceSlug: 'shop', onHostLoss: 'move' })
    await sessions.promptAndWait(id, { prompt: 'say before the move' })
    await expect.poll(() => stateAt(other, id)).toBe('idle')
    const { page, problems } = await openConsole(other, { place: `/sessions/${id}` })
    await transcript(page).getByText('before the move').first().waitFor()
    await owner.crash()
    await page.getByText('or when another host continues the session').waitFor()
    await page.getByText('It was moved: its host').waitFor()
    await prompt(page, 'hello again')
    await transcript(page).getByText('echo: ').last().waitFor()
    await page.locator('.host-note').getByRole('link', { name: 'one', exact: true }).click()
    await host(page, 'one').getByText('unreachable').waitFor()
    await host(page, 'two').getByText('serves this page').waitFor()
    expect(problems).toEqual([])
  },
)

test(
  '17.8 hosts are found by what they have, by keyboard, and a hostile label is text',
  needs('chromium', 'nats-server'),
  async () => {
    const { other } = await fleet()
    const { page, problems } = await openConsole(other)
    await page.getByRole('link', { name: 'Hosts' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('go to Hosts').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.getByText('2 of 2 reachable').waitFor()
    expect(await host(page, 'two').innerText()).toContain('owner=<img src=x onerror=alert(1)>⟨U+202E⟩')
    for (const words of ['0 live', ' free', '0 events behind', 'only-one', 'demo', 'gpu=yes'])
      expect(await host(page, 'one').innerText()).toContain(words)
    await page.getByRole('searchbox', { name: 'Search in the hosts' }).fill('gpu=yes only-one')
    await host(page, 'two').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Sessions of one' }).press('Enter')
    await page.getByText('No session matches.').waitFor()
    expect(page.url()).toContain('#/sessions?host=one')
    await openDialog(page)
    const labels = await optionsOf(runOn(page))
    expect(labels).toContain('owner=<img src=x onerror=alert(1)>⟨U+202E⟩')
    await runOn(page).focus()
    await page.keyboard.type('any')
    await expect.poll(() => runOn(page).inputValue()).toBe('any')
    expect(problems).toEqual([])
  },
)

const SCREENS = [
  { width: 360, height: 800, colorScheme: 'light' },
  { width: 2_560, height: 1_200, colorScheme: 'dark' },
] as const

test(
  '17.8 axe finds nothing in what shows hosts, and it fits on the smallest and the widest screen',
  needs('chromium', 'nats-server'),
  async () => {
    const { owner, other } = await fleet()
    const { id } = await owner.client.sessions.start({ adapter: 'demo', workspaceSlug: 'shop', label: 'there' })
    await owner.client.sessions.prompt(id, { prompt: 'ask notes.txt' })
    await pendingPermission(owner.client, id)
    await published(owner, other, id)
    await owner.crash()
    await expect.poll(() => stateAt(other, id)).toBe('unreachable')
    const findings: string[] = []
    for (const screen of SCREENS) {
      const { page } = await openConsole(other, screen)
      const look = async (place: string, sign: Locator): Promise<void> => {
        await page.goto(`${other.url}/console/#${place}`)
        await sign.first().waitFor()
        findings.push(...(await found(page)).map((finding) => `${screen.width} ${place} ${finding}`))
        if (await isWiderThanScreen(page)) findings.push(`${screen.width} ${place} is wider than the screen`)
      }
      await look('/', page.getByText('It can be answered when'))
      await look('/hosts?host=one', host(page, 'one').getByText('not heard from since'))
      await look(`/sessions/${id}`, page.getByText('Nothing can be sent while'))
      await look('/settings', page.getByText('one of 2;'))
      await look('/sessions', page.locator('.session-row'))
      await openDialog(page)
      await runOn(page).selectOption('one')
      await page.getByRole('dialog').getByText('Advanced').click()
      await press(page.getByRole('dialog'))
      await look('/sessions', page.locator('#placement-problem').getByText('last heard from'))
    }
    expect(findings).toEqual([])
  },
)

test('17.8 a gateway without a cluster shows nothing of hosts', needs('chromium'), async () => {
  const gateway = await startGateway()
  await repository(gateway)
  await gateway.client.sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label: 'alone' })
  const { page } = await openConsole(gateway, { place: '/sessions' })
  await page.locator('.session-row').getByText('alone').waitFor()
  await page.getByText('Connected', { exact: true }).waitFor({ state: 'attached' })
  const [self] = await gateway.client.hosts()
  await openDialog(page)
  const nothing = ['Run on', 'If its host is lost', 'Hosts', 'host,', self?.name ?? '']
  const seen = await page.locator('body').evaluate((body) => body.outerHTML)
  expect(nothing.filter((words) => seen.includes(words))).toEqual([])
  await page.keyboard.press('Escape')
  await page.goto(`${gateway.url}/console/#/settings`)
  await page.getByText('You are', { exact: true }).waitFor()
  expect(await page.getByRole('term').allInnerTexts()).not.toContain('Host')
})

test(
  '17.8 a host that only does not answer is said, and what waits there is shown as soon as it does',
  needs('chromium', 'nats-server'),
  async () => {
    const { owner, other } = await startFleet({ leaseMs: 60_000 })
    const { id } = await owner.client.sessions.start({ adapter: 'demo', cwd: temporaryFolder('cwd') })
    await owner.client.sessions.prompt(id, { prompt: 'ask notes.txt' })
    await pendingPermission(owner.client, id)
    await published(owner, other, id)
    const { page: early } = await openConsole(other)
    await early.getByRole('article').waitFor()
    process.kill(owner.pid, 'SIGSTOP')
    try {
      const { page: late } = await openConsole(other)
      await late.getByText('more waits there than is shown here').waitFor()
      expect(await late.getByRole('article').count()).toBe(0)
      // A change of another session: the waiting requests are read again.
      const { id: own } = await other.client.sessions.start({ adapter: 'demo', cwd: temporaryFolder('cwd') })
      await other.client.sessions.prompt(own, { prompt: 'ask own.txt' })
      await early.getByRole('article').nth(1).waitFor()
      process.kill(owner.pid, 'SIGCONT')
      await late.getByRole('article').nth(1).waitFor()
      expect(await late.getByText('more waits there').count()).toBe(0)
    } finally {
      process.kill(owner.pid, 'SIGCONT')
    }
  },
)
