import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openBrowser, openConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { git, repository } from './support/repository.js'
import { needs } from '../tooling/needs.ts'

/** A session in a worktree in which the agent wrote a file. */
async function writtenSession({ client }: TestGateway, prompt: string): Promise<string> {
  const { id } = await client.sessions.start({ adapter: 'demo', workspaceSlug: 'repo', worktree: true })
  await client.sessions.promptAndWait(id, { prompt })
  return id
}

async function merge(page: Page): Promise<void> {
  await page.getByText('Worktree on').click()
  await page.getByRole('button', { name: 'Merge', exact: true }).click()
  await page
    .getByRole('group', { name: /^Merge / })
    .getByRole('button', { name: 'Merge', exact: true })
    .click()
}

test(
  '15.3 15.5 a session is started in a worktree, its change seen, rewound after a look, undone and merged',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const folder = await repository(gateway)
    const { page, problems, foreign } = await openConsole(gateway, { place: '/sessions' })
    await page.getByRole('button', { name: 'Start a session' }).click()
    const dialog = page.getByRole('dialog', { name: 'Start a session' })
    await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('demo')
    await dialog.getByRole('checkbox', { name: 'in a git worktree of its own' }).check()
    await dialog.getByRole('textbox', { name: 'Prompt' }).fill('write src/new.txt <b>hello</b>')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL(/#\/sessions\/[^/]+$/)
    const id = page.url().split('/').at(-1) ?? ''
    await gateway.client.sessions.waitTurn(id, 1)
    await page.goto(`${gateway.url}/console/#/sessions/${id}/changes`)
    await page.getByRole('region', { name: 'Patch' }).getByText('+ <b>hello</b>').waitFor()
    const { worktree } = await gateway.client.sessions.get(id)
    const written = join(worktree?.path ?? '', 'src', 'new.txt')

    await page.getByText('Rewind files').click()
    await page.getByRole('button', { name: 'Show what would change' }).click()
    await page.getByText('1 file would be set back').waitFor()
    expect(existsSync(written)).toBe(true)
    await page.getByRole('button', { name: 'Rewind 1 file' }).click()
    await page.getByText('No changed files.').waitFor()
    expect(existsSync(written)).toBe(false)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('region', { name: 'Patch' }).getByText('+ <b>hello</b>').waitFor()

    await merge(page)
    await page.getByText(/^main is now at/).waitFor()
    expect(readFileSync(join(folder, 'src', 'new.txt'), 'utf8')).toContain('<b>hello</b>')
    expect([problems, foreign]).toEqual([[], []])
  },
)

test('15.5 a merge that is refused names the files in conflict', needs('chromium'), async () => {
  const gateway = await startGateway()
  const folder = await repository(gateway)
  const id = await writtenSession(gateway, 'write one.txt theirs')
  writeFileSync(join(folder, 'one.txt'), 'ours\n')
  git(folder, 'commit', '-qam', 'ours')
  const { page } = await openConsole(gateway, { place: `/sessions/${id}/changes` })
  await merge(page)
  await expect.poll(() => page.getByRole('group', { name: 'Files in conflict' }).textContent()).toBe('one.txt')
  expect(readFileSync(join(folder, 'one.txt'), 'utf8')).toBe('ours\n')
})

test('15.5 what was reviewed is not shown again, until it changes', needs('chromium'), async () => {
  const gateway = await startGateway()
  await repository(gateway)
  const id = await writtenSession(gateway, 'write one.txt changed')
  const { page } = await openConsole(gateway, { place: `/sessions/${id}/changes` })
  await page.getByRole('button', { name: 'Mark as reviewed' }).click()
  await page.getByText(/^Reviewed /).waitFor()
  await page.getByRole('combobox', { name: 'Show' }).selectOption('review')
  await page.getByText('No changed files.').waitFor()
  await gateway.client.sessions.promptAndWait(id, { prompt: 'write two.txt more' })
  await page.getByRole('button', { name: /two\.txt/ }).waitFor()
  expect(await page.getByRole('button', { name: /one\.txt/ }).count()).toBe(0)
})

test(
  '15.5 a login that may only read sees the changes, and no button that changes anything',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    await repository(gateway)
    const id = await writtenSession(gateway, 'write one.txt changed')
    const { code } = await gateway.client.browserCode({ scope: 'read' })
    const { page } = await openBrowser(gateway)
    await page.goto(`${gateway.url}/console/#code=${code}/sessions/${id}/changes`)
    await page.getByRole('region', { name: 'Patch' }).waitFor()
    for (const name of ['Mark as reviewed', 'Merge', 'Discard', 'Show what would change'])
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    await page.goto(`${gateway.url}/console/#/sessions`)
    await page.getByRole('heading', { name: 'repo' }).waitFor()
    expect(await page.getByRole('button', { name: 'Start a session' }).count()).toBe(0)
    await page.goto(`${gateway.url}/console/#/settings`)
    await page.getByRole('heading', { name: 'Agents' }).waitFor()
    for (const name of [/^Create token/, /^Remove/, /^Install/, /^Add workspace/])
      expect(await page.getByRole('button', { name }).count()).toBe(0)
  },
)
