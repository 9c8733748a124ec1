import { catalogPath } from '@agentproto/adapters'
import { type AdapterService, type HomeLayout, systemClock, type WorkspaceService } from '@agentproto/contracts'
import { locateAgent } from '@agentproto/driver-agent-cli'
import type { ProvisionHost, Terminal } from '@agentproto/provisioning'
import { createRedactor } from '@agentproto/secrets'
import { openOfflineAudit, withAudit } from '@agentproto/server'
import { createWorkspaces, createWorkspaceTrust, type WorkspaceTrust } from '@agentproto/workspaces'
import { layoutOf, withConfig } from '../config.js'
import type { GatewayOptions } from '../gateway-options.js'
import { type CatalogFolder, ManifestCatalog } from './adapter-catalog.js'
import { agentHost } from './agent-host.js'
import { HostAdapters } from './host-adapters.js'
import { workspaceAdapters } from './workspace-adapters.js'

/** The options of a gateway that concern its adapters, and a person. */
export interface OpenAdaptersOptions extends Pick<
  GatewayOptions,
  | 'home'
  | 'env'
  | 'environment'
  | 'homes'
  | 'cwd'
  | 'adapters'
  | 'bundledAdapters'
  | 'executables'
  | 'sandbox'
  | 'sandboxProviders'
  | 'clock'
  | 'onProblem'
> {
  /** A person who can answer questions; without one, a step that needs one is reported as pending. */
  readonly terminal?: Terminal
}

/**
 * The adapters of a home without a gateway: to install, set up, log in and examine agents, whether or not a gateway runs.
 * Takes no lock but that of the adapter that is changed.
 * @throws `invalid_request` when the home's config.json is not valid
 */
export async function openAdapters(options: OpenAdaptersOptions = {}): Promise<AdapterService> {
  const settings = await withConfig(options)
  const { clock = systemClock, onProblem = () => undefined, cwd = process.cwd() } = settings
  const layout = layoutOf(settings)
  const { root: home } = layout
  const host = agentHost(settings, { home, clock, redactor: createRedactor(), onProblem })
  const workspaces = createWorkspaces({ home, clock, defaultCwd: cwd, onWarning: onProblem })
  const trust = createWorkspaceTrust({ home, clock, onWarning: onProblem })
  const catalog = openCatalog(settings, { host, layout, onProblem, workspaces, trust })
  const { terminal } = options
  const adapters = new HostAdapters(catalog, terminal === undefined ? host : { ...host, terminal })
  return withAudit('adapters', adapters, openOfflineAudit({ ...settings, onProblem }))
}

export interface CatalogParts {
  readonly host: ProvisionHost
  readonly layout: HomeLayout
  readonly onProblem: (problem: string) => void
  readonly workspaces: Pick<WorkspaceService, 'list'>
  readonly trust: Pick<WorkspaceTrust, 'list'>
}

/** The adapters of a home, of its trusted workspaces, and those that ship with agentproto. */
export function openCatalog(options: GatewayOptions, parts: CatalogParts): ManifestCatalog {
  const { host, layout, onProblem, workspaces, trust } = parts
  const folders = adapterFolders(options, layout)
  return new ManifestCatalog({
    folders: async () => [...(await workspaceAdapters(workspaces, trust)), ...folders],
    isInstalled: async (manifest) => (await locateAgent(manifest, host)) !== undefined,
    onProblem,
    sandboxProviders: Object.keys(options.sandboxProviders ?? {}),
  })
}

/** In the order of rising precedence, all of them above those of workspaces. */
function adapterFolders(
  { bundledAdapters = true, adapters = [] }: GatewayOptions,
  layout: HomeLayout,
): CatalogFolder[] {
  return [
    ...(bundledAdapters ? [{ path: catalogPath, source: 'bundled' as const }] : []),
    { path: layout.adapters, source: 'user' },
    ...adapters.map((path) => ({ path, source: 'host' as const })),
  ]
}
