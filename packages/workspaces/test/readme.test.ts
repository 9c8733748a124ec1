import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkspaces } from '@agentproto/workspaces'

test('the example of the README does what it says', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-readme-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const home = join(folder, '.agentproto')

  const workspaces = createWorkspaces({ home, defaultCwd: process.cwd() })
  const { slug } = await workspaces.add({ path: folder, label: 'Main monorepo' })
  await workspaces.use(slug)
  const { cwd, workspaceSlug, warnings } = await workspaces.resolve({})
  expect([cwd, workspaceSlug, warnings]).toEqual([folder, slug, []])
})
