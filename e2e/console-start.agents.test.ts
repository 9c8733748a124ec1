import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { transcript } from './support/console-session.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { git, repository } from './support/repository.js'

// The list of sessions, and the dialog that starts one.

/** A script that drops or pastes a file on the prompt of the dialog. */
const transfer = (event: 'drop' | 'paste', name: string): string => `{
  const data = new DataTransfer()
  data.items.add(new File(['from ${name}'], '${name}', { type: 'text/plain' }))
  const init = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data }
  const type = ${event === 'drop' ? 'DragEvent' : 'ClipboardEvent'}
  document.querySelector('textarea[name="prompt"]').dispatchEvent(new type('${event}', init))
}`

async function openDialog(gateway: TestGateway): Promise<{ readonly page: Page; readonly dialog: Locator }> {
  const { page } = await openConsole(gateway, { place: '/sessions' })
  await page.getByRole('button', { name: 'Start a session' }).click()
  const dialog = page.getByRole('dialog', { name: 'Start a session' })
  await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('demo')
  return { page, dialog }
}

const start = (dialog: Locator): Promise<void> => dialog.getByRole('button', { name: 'Start', exact: true }).click()

test('15.3 a session starts with all that the dialog offers', needs('chromium'), async () => {
  const gateway = await startGateway()
  const folder = await repository(gateway)
  git(folder, 'branch', 'other')
  const { page, dialog } = await openDialog(gateway)
  await dialog.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('plan')
  await dialog.getByRole('combobox', { name: 'Permission requests' }).selectOption('deny everything')
  await dialog.getByRole('checkbox', { name: 'in a git worktree of its own' }).check()
  await dialog.getByRole('textbox', { name: 'Branch' }).fill('mine')
  await dialog.getByRole('textbox', { name: 'Starts from' }).fill('other')
  await dialog.getByRole('textbox', { name: 'Label' }).fill('all of it')
  await dialog
    .getByText('Budget and options')
    .or(dialog.getByText('Budget', { exact: true }))
    .click()
  await dialog.getByRole('spinbutton', { name: 'Turns' }).fill('5')
  await dialog.getByRole('spinbutton', { name: 'Cost' }).fill('1.5')
  await dialog.getByRole('textbox', { name: 'Prompt' }).fill('hello')
  await start(dialog)
  await transcript(page).getByText('echo: hello').waitFor()
  const session = await gateway.client.sessions.get(page.url().split('/').at(-1) ?? '')
  expect(session).toMatchObject({
    label: 'all of it',
    permissionMode: 'deny-all',
    config: { modeId: 'plan' },
    worktree: { branch: 'mine', base: 'other' },
    budget: { turns: 5, cost: { amount: 1.5, currency: 'USD' } },
  })
})

test(
  '15.3 what the gateway refuses is said, at its field, and nothing that was typed is lost',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    await repository(gateway)
    const { page, dialog } = await openDialog(gateway)
    const prompt = dialog.getByRole('textbox', { name: 'Prompt' })
    const folder = dialog.getByRole('textbox', { name: 'Folder instead' })
    await prompt.fill('hello')
    await folder.fill('/no/such/folder')
    await start(dialog)
    await dialog.getByRole('alert').filter({ hasText: '/no/such/folder' }).waitFor()
    expect(await folder.getAttribute('aria-invalid')).toBe('true')
    expect(await dialog.locator(':focus').getAttribute('name')).toBe('cwd')
    await folder.fill('')
    await dialog.getByRole('checkbox', { name: 'in a git worktree of its own' }).check()
    await dialog.getByRole('textbox', { name: 'Branch' }).fill('no..branch')
    await start(dialog)
    await dialog.getByRole('alert').filter({ hasText: 'no..branch' }).waitFor()
    expect(await folder.getAttribute('aria-invalid')).toBeNull()
    expect(await dialog.getByRole('textbox', { name: 'Branch' }).getAttribute('aria-invalid')).toBe('true')
    expect(await prompt.inputValue()).toBe('hello')
    await dialog.getByRole('textbox', { name: 'Branch' }).fill('')
    await start(dialog)
    await transcript(page).getByText('echo: hello').waitFor()
  },
)

test(
  '15.3 text files are chosen, dropped and pasted; others are refused with the reason',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    await repository(gateway)
    const { page, dialog } = await openDialog(gateway)
    const chosen = dialog.getByLabel('Text files, here or dropped')
    const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'text/plain', buffer })
    await chosen.setInputFiles([file('chosen.txt', Buffer.from('from the chooser'))])
    await dialog.getByRole('button', { name: 'Remove chosen.txt' }).waitFor()
    for (const [event, name] of [
      ['drop', 'dropped.txt'],
      ['paste', 'pasted.txt'],
    ] as const) {
      await page.evaluate(transfer(event, name))
      await dialog.getByRole('button', { name: `Remove ${name}` }).waitFor()
    }
    await chosen.setInputFiles([file('picture.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]))])
    await dialog.getByRole('alert').filter({ hasText: 'picture.png is not a text file' }).waitFor()
    await chosen.setInputFiles([file('huge.txt', Buffer.alloc(5 * 1024 * 1024, 'x'))])
    await dialog.getByRole('alert').filter({ hasText: 'huge.txt is larger than a prompt may be' }).waitFor()
    await dialog.getByRole('button', { name: 'Remove dropped.txt' }).click()
    await start(dialog)
    await transcript(page).getByText('from the chooser').first().waitFor()
    const id = page.url().split('/').at(-1) ?? ''
    const { prompt } = await gateway.client.sessions.turn(id, 1)
    expect(prompt.map((block) => (block.type === 'text' ? block.text : block.type))).toEqual([
      'File chosen.txt:\n\nfrom the chooser',
      'File pasted.txt:\n\nfrom pasted.txt',
    ])
  },
)

test(
  '15.3 sessions are filtered, grouped, shown below what started them, and stopped together',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    await repository(gateway)
    const { sessions } = gateway.client
    const one = await sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label: 'alpha' })
    const two = await sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label: 'beta' })
    const parent = await sessions.start({ adapter: 'demo', workspaceSlug: 'repo', label: 'parent', delegation: {} })
    await sessions.promptAndWait(parent.id, {
      prompt: 'call start_agent_session {"adapter":"demo","label":"the child"}',
    })
    await sessions.prompt(two.id, { prompt: 'ask wait.txt' })
    const { page } = await openConsole(gateway, { place: '/sessions' })
    const rows = (): Promise<readonly string[]> => page.locator('main .row strong').allInnerTexts()
    await expect.poll(rows).toEqual(expect.arrayContaining(['alpha', 'beta', 'parent', 'the child']))
    const child = page.locator('.session-row').filter({ hasText: 'the child' })
    await expect.poll(() => child.getAttribute('class')).toContain('depth-1')
    await expect.poll(async () => (await rows())[0]).toBe('beta')
    await page.locator('.session-row').filter({ hasText: 'beta' }).getByText('waits:').waitFor()
    await page.getByRole('searchbox', { name: 'Filter' }).fill('alph idle')
    await expect.poll(rows).toEqual(['alpha'])
    await page.getByRole('searchbox', { name: 'Filter' }).fill('nothing like it')
    await page.getByText('No session matches.').waitFor()
    await page.getByRole('searchbox', { name: 'Filter' }).fill('')
    await page.getByRole('combobox', { name: 'by' }).selectOption('state')
    await page.getByRole('heading', { name: 'waiting' }).waitFor()
    for (const name of ['alpha', 'beta']) await page.getByRole('checkbox', { name: `Choose ${name}` }).check()
    await page.getByRole('button', { name: 'Stop 2 sessions' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect((await sessions.get(one.id)).status).toBe('running')
    await page.getByRole('button', { name: 'Stop 2 sessions' }).click()
    await page
      .getByRole('group', { name: /^Stop 2 sessions/ })
      .getByRole('button', { name: 'Stop 2 sessions' })
      .click()
    await expect.poll(rows).not.toContain('alpha')
    for (const { id } of [one, two]) await expect.poll(async () => (await sessions.get(id)).status).toBe('killed')
    expect((await sessions.get(parent.id)).status).toBe('running')
    await page.getByRole('checkbox', { name: 'ended ones too' }).check()
    await expect.poll(rows).toEqual(expect.arrayContaining(['alpha', 'beta']))
  },
)
