import { catalogPath } from '@agentproto/adapters'
import type { WorkspaceService } from '@agentproto/contracts'
import { type AgentHost, locateAgent } from '@agentproto/driver-agent-cli'
import { remoteAddress } from '@agentproto/manifest'
import { type CatalogFolder, ManifestCatalog } from './manifest-catalog.js'
import { type TrustedWorkspaces, workspaceAdapters } from './workspace-adapters.js'

export interface CatalogOptions {
  /** Folder of the adapters that the owner added. */
  readonly userAdapters: string
  /** Further folders of adapters; they override the others. */
  readonly adapters?: readonly string[]
  /** Whether the adapters that ship with agentproto are offered. Default true. */
  readonly bundledAdapters?: boolean
  readonly host: AgentHost
  readonly workspaces: Pick<WorkspaceService, 'list'>
  readonly trust: TrustedWorkspaces
  readonly onProblem: (problem: string) => void
}

/** The adapters of a home, of its trusted workspaces, and those that ship with agentproto. */
export function openCatalog(options: CatalogOptions): ManifestCatalog {
  const { host, workspaces, trust, onProblem } = options
  const folders = foldersOf(options)
  return new ManifestCatalog({
    folders: async () => [...(await workspaceAdapters(workspaces, trust)), ...folders],
    // An agent that runs elsewhere is installed there.
    isInstalled: async (manifest) =>
      remoteAddress(manifest) !== undefined || (await locateAgent(manifest, host)) !== undefined,
    onProblem,
    sandboxProviders: Object.keys(host.sandbox?.providers ?? {}),
  })
}

/** In rising precedence; all of them override those of workspaces. */
function foldersOf({ bundledAdapters = true, userAdapters, adapters = [] }: CatalogOptions): readonly CatalogFolder[] {
  return [
    ...(bundledAdapters ? [{ path: catalogPath, source: 'bundled' as const }] : []),
    { path: userAdapters, source: 'user' },
    ...adapters.map((path) => ({ path, source: 'host' as const })),
  ]
}
