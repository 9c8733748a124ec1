// What `agentproto workspace add` does, as a library: a folder gets a name, and new sessions find it.
import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspaces } from '@agentproto/workspaces'

const folder = await realpath(await mkdtemp(join(tmpdir(), 'shop-')))
const home = process.env.AGENTPROTO_HOME ?? join(folder, 'home')
const workspaces = createWorkspaces({ home, defaultCwd: process.cwd() })

try {
  const { slug, path } = await workspaces.add({ path: folder, slug: 'example-shop', label: 'The shop', use: true })
  console.log(`${slug} is ${path}`)

  // AIP-46's order: an explicit folder, the named workspace, the active one, the host's own folder with a warning.
  const named = await workspaces.resolve({ workspaceSlug: slug })
  const active = await workspaces.resolve({})
  assert.equal(named.cwd, folder)
  assert.equal(active.workspaceSlug, slug)
  await assert.rejects(workspaces.resolve({ workspaceSlug: 'no-such-shop' }), { code: 'workspace_not_found' })

  await workspaces.remove(slug)
} finally {
  await rm(folder, { recursive: true, force: true })
}
