import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspaceService } from '@agentproto/contracts'
import type { CatalogFolder } from './manifest-catalog.js'

/** The folders whose own adapters the owner trusts. */
export interface TrustedWorkspaces {
  list(): Promise<readonly { readonly path: string }[]>
}

/** Where a workspace keeps adapters of its own. */
const FOLDER = join('.agentproto', 'adapters')

/**
 * The adapter folders of trusted workspaces. A workspace is often somebody else's code, and an adapter decides what is run, so
 * the workspace must be registered and its folder trusted, both by the real path of the folder as it is now.
 */
export async function workspaceAdapters(
  workspaces: Pick<WorkspaceService, 'list'>,
  trust: TrustedWorkspaces,
): Promise<readonly CatalogFolder[]> {
  const trusted = new Set((await trust.list()).map(({ path }) => path))
  if (trusted.size === 0) return []
  const { workspaces: known } = await workspaces.list()
  const real = await Promise.all(known.map(({ path }) => realpath(path).catch(() => '')))
  return real.filter((path) => trusted.has(path)).map((path) => ({ path: join(path, FOLDER), source: 'workspace' }))
}
