import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspaceService } from '@agentproto/contracts'
import type { WorkspaceTrust } from '@agentproto/workspaces'
import type { CatalogFolder } from './adapter-catalog.js'

/** Where a workspace keeps adapters of its own. */
const FOLDER = join('.agentproto', 'adapters')

/**
 * The folders of adapters of the workspaces that the owner trusts: a workspace is often somebody else's code, and an
 * adapter says what is run. Registered and trusted both, by the real path of the folder as it is now.
 */
export async function workspaceAdapters(
  workspaces: Pick<WorkspaceService, 'list'>,
  trust: Pick<WorkspaceTrust, 'list'>,
): Promise<readonly CatalogFolder[]> {
  const trusted = new Set((await trust.list()).map(({ path }) => path))
  if (trusted.size === 0) return []
  const { workspaces: known } = await workspaces.list()
  const real = await Promise.all(known.map(({ path }) => realpath(path).catch(() => '')))
  return real.filter((path) => trusted.has(path)).map((path) => ({ path: join(path, FOLDER), source: 'workspace' }))
}
