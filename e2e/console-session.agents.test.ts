import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { prompt, transcript } from './support/console-session.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { repository } from './support/repository.js'

// All that a person does with one session.

interface Shown {
  readonly gateway: TestGateway
  readonly page: Page
  readonly problems: readonly string[]
  readonly id: string
}

/** A session of the demo agent in a repository, on a page. */
async function shownSession(...prompts: readonly string[]): Promise<Shown> {
  const gateway = await startGateway()
  await repository(gateway)
  const { sessions } = gateway.client
  const { id } = await sessions.start({ adapter: 'demo', workspaceSlug: 'repo' })
  for (const text of prompts) await sessions.promptAndWait(id, { prompt: text })
  const { page, problems } = await openConsole(gateway, { place: `/sessions/${id}` })
  await page.getByRole('textbox', { name: 'Prompt' }).waitFor()
  return { gateway, page, problems, id }
}

const actions = (page: Page): Promise<void> => page.getByText('Settings and actions').click()

test('15.4 queued prompts are shown in their order, and one is taken back', needs('chromium'), async () => {
  const { gateway, page, id, problems } = await shownSession()
  await prompt(page, 'late 8000')
  await page.getByRole('button', { name: 'Queue', exact: true }).waitFor()
  for (const text of ['first of three', 'second of three', 'third of three']) {
    await prompt(page, text)
    await expect.poll(() => page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe('')
  }
  await page.getByText('3 prompts are queued').click()
  const queue = page.getByRole('list', { name: 'Queued prompts' })
  await expect
    .poll(() => queue.getByRole('group').allInnerTexts())
    .toEqual(['first of three', 'second of three', 'third of three'])
  await page.getByRole('button', { name: 'Take prompt 3 back' }).click()
  await expect.poll(() => queue.getByRole('group').allInnerTexts()).toEqual(['first of three', 'third of three'])
  await page.getByText('2 prompts are queued').waitFor()
  await transcript(page).getByText('echo: third of three').waitFor()
  expect(await page.getByText('echo: second of three').count()).toBe(0)
  await transcript(page).getByText('Not sent: the turn before it was stopped.').waitFor()
  expect((await gateway.client.sessions.get(id)).queuedPrompts).toBeUndefined()
  expect(problems).toEqual([])
})

test('15.4 a prompt interrupts the running turn, by key and by button', needs('chromium'), async () => {
  const { page } = await shownSession()
  await prompt(page, 'hang')
  await page.getByRole('button', { name: 'Interrupt and send' }).waitFor()
  await prompt(page, 'instead of the first', 'Control+Enter')
  await transcript(page).getByText('echo: instead of the first').waitFor()
  await prompt(page, 'hang')
  await page.getByRole('textbox', { name: 'Prompt' }).fill('instead of the second')
  await page.getByRole('button', { name: 'Interrupt and send' }).click()
  await transcript(page).getByText('echo: instead of the second').waitFor()
  expect(await transcript(page).getByText('Interrupted').count()).toBe(2)
})

test('15.4 the arrows go through the earlier prompts, and leave alone what is written', needs('chromium'), async () => {
  const { page } = await shownSession('first', 'second line\nof two')
  const box = page.getByRole('textbox', { name: 'Prompt' })
  await transcript(page).getByText('echo: second line').waitFor()
  await box.press('ArrowUp')
  expect(await box.inputValue()).toBe('second line\nof two')
  await box.press('ArrowUp')
  expect(await box.inputValue()).toBe('first')
  await box.press('ArrowDown')
  await box.press('ArrowDown')
  expect(await box.inputValue()).toBe('')
  await box.fill('mine')
  await box.press('ArrowUp')
  expect(await box.inputValue()).toBe('mine')
  await box.press('Shift+Enter')
  expect(await box.inputValue()).toContain('\n')
})

test('15.4 what is written stays while the person looks elsewhere', needs('chromium'), async () => {
  const { page, id } = await shownSession('first')
  const box = page.getByRole('textbox', { name: 'Prompt' })
  await box.fill('half a prompt')
  await page.getByRole('link', { name: /^Sessions/ }).click()
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  await page.goBack()
  await transcript(page).getByText('echo: first').waitFor()
  expect(await box.inputValue()).toBe('half a prompt')
  await box.press('Enter')
  await transcript(page).getByText('echo: half a prompt').waitFor()
  await page.reload()
  await transcript(page).getByText('echo: half a prompt').waitFor()
  expect(await box.inputValue()).toBe('')
  expect(page.url()).toContain(id)
})

test('15.4 mode, model and permission mode are set, and the gateway has them', needs('chromium'), async () => {
  const { gateway, page, id } = await shownSession()
  const session = () => gateway.client.sessions.get(id)
  await actions(page)
  await page.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('Plan')
  await expect.poll(async () => (await session()).config?.modeId).toBe('plan')
  await page.getByRole('combobox', { name: 'Model', exact: true }).selectOption('Demo Two')
  await expect.poll(async () => (await session()).config?.modelId).toBe('demo-2')
  await page.getByRole('combobox', { name: 'Permissions' }).selectOption('deny everything')
  await expect.poll(async () => (await session()).permissionMode).toBe('deny-all')
  await prompt(page, 'usage')
  await transcript(page)
    .getByText(/^demo-2 has used/)
    .waitFor()
  await page.reload()
  await actions(page)
  for (const [name, value] of [
    ['Mode', 'plan'],
    ['Model', 'demo-2'],
    ['Permissions', 'deny-all'],
  ] as const)
    expect(await page.getByRole('combobox', { name, exact: true }).inputValue()).toBe(value)
  // Another browser, or the agent itself, changes it too.
  await gateway.client.sessions.configure(id, { mode: 'default' })
  await expect.poll(() => page.getByRole('combobox', { name: 'Mode', exact: true }).inputValue()).toBe('default')
})

test('15.4 a title is given and taken back', needs('chromium'), async () => {
  const { gateway, page, id } = await shownSession('hello there')
  await page.getByRole('heading', { name: 'hello there' }).waitFor()
  await actions(page)
  await page.getByRole('textbox', { name: 'Title' }).fill('My own name')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { name: 'My own name' }).waitFor()
  await gateway.client.sessions.rename(id, { title: 'from elsewhere' })
  await page.getByRole('heading', { name: 'from elsewhere' }).waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('from elsewhere')
  await page.getByRole('textbox', { name: 'Title' }).fill('')
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { name: id }).waitFor()
})

test('15.4 a fork knows the conversation, and has the files of a turn in its worktree', needs('chromium'), async () => {
  const { gateway, page, id } = await shownSession('write one.txt ours', 'write one.txt later')
  await gateway.client.sessions.rename(id, { label: 'original' })
  await actions(page)
  const fork = page.getByRole('form', { name: 'Fork' })
  await fork.getByRole('textbox', { name: 'Label of the fork' }).fill('other way')
  await fork.getByRole('checkbox', { name: 'in a git worktree of its own' }).check()
  await fork.getByRole('combobox', { name: 'Its files are' }).selectOption('as at the end of turn 1')
  await fork.getByRole('button', { name: 'Fork' }).click()
  await page.getByRole('heading', { name: 'other way' }).waitFor()
  const forkId = page.url().split('/').at(-1) ?? ''
  await page.getByText('forked from').getByRole('link', { name: 'original' }).waitFor()
  const { forkedFrom, worktree } = await gateway.client.sessions.get(forkId)
  expect(forkedFrom).toBe(id)
  expect(readFileSync(join(worktree?.path ?? '', 'one.txt'), 'utf8')).toBe('ours\n')
  await prompt(page, 'recall')
  await transcript(page).getByText('write one.txt later').first().waitFor()
})

test('15.4 an ended session is resumed, and its next turn is shown', needs('chromium'), async () => {
  const { gateway, page, id, problems } = await shownSession('before')
  await transcript(page).getByText('echo: before').waitFor()
  await actions(page)
  await page.getByRole('button', { name: 'Kill…' }).click()
  await page.getByRole('button', { name: 'Keep it' }).click()
  await page.getByRole('button', { name: 'Kill…' }).click()
  await page.getByRole('button', { name: 'Kill', exact: true }).click()
  await transcript(page).getByText('Ended: user_canceled').waitFor()
  expect(await page.getByRole('textbox', { name: 'Prompt' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect.poll(async () => (await gateway.client.sessions.get(id)).state).toBe('idle')
  await prompt(page, 'after')
  await transcript(page).getByText('echo: after').waitFor()
  expect(await transcript(page).getByText('echo: before').count()).toBe(1)
  await page.getByRole('button', { name: 'Kill…' }).waitFor()
  expect(problems).toEqual([])
})

test('15.4 a session is exported, and its changes are one press away', needs('chromium'), async () => {
  const { page, id } = await shownSession('write two.txt more')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`${id}.md`)
  expect(readFileSync(await download.path(), 'utf8')).toContain('write two.txt more')
  await page.getByRole('link', { name: 'Changes' }).click()
  await page.getByRole('region', { name: 'Patch' }).getByText('+ more').waitFor()
})

test('15.4 the events of a session are read page by page, the newest as they come', needs('chromium'), async () => {
  const { gateway, page, id } = await shownSession('stream 150 1')
  await page.getByRole('checkbox', { name: 'events, for debugging' }).check()
  const events = page.getByRole('region', { name: 'Events' })
  const listed = async (): Promise<readonly number[]> =>
    [...((await events.getByRole('group').textContent()) ?? '').matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq))
  const isWhole = async (): Promise<boolean> =>
    (await gateway.client.sessions.get(id)).lastSeq === (await listed()).at(-1)
  await expect.poll(isWhole).toBe(true)
  await events.getByRole('button', { name: 'Earlier' }).click()
  await expect.poll(async () => (await listed()).at(-1)).toBe(100)
  await events.getByRole('button', { name: 'Later' }).click()
  await expect.poll(isWhole).toBe(true)
  await gateway.client.sessions.promptAndWait(id, { prompt: 'hello' })
  await expect.poll(isWhole).toBe(true)
})

test('15.4 the plan stays in view while the transcript grows', needs('chromium'), async () => {
  const { page } = await shownSession('plan')
  await page.getByText('Plan: 3 of 3 done').click()
  await page.getByText('Check the result').waitFor()
  await prompt(page, 'stream 300 1')
  await transcript(page).getByText('chunk 300').waitFor()
  expect(await page.getByText('Plan: 3 of 3 done').isVisible()).toBe(true)
  const { y = -1 } = (await page.getByText('Check the result').boundingBox()) ?? {}
  expect(y).toBeGreaterThan(0)
})
