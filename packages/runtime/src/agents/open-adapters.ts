import { catalogPath } from '@agentproto/adapters'
import { type AdapterService, type Clock, type HomeLayout, systemClock } from '@agentproto/contracts'
import { demoAgentPath } from '@agentproto/demo-agent'
import { locateAgent, SharedProcesses } from '@agentproto/driver-agent-cli'
import type { ProvisionHost, Terminal } from '@agentproto/provisioning'
import { launchProvisioning } from '@agentproto/provisioning/launch'
import { createRedactor, createSecrets } from '@agentproto/secrets'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import { auditedAdapters } from '../audit/audited-host.js'
import { offlineLog } from '../audit/offline-audit.js'
import { BUNDLED_CLIENTS } from './bundled-clients.js'
import { type CatalogFolder, ManifestCatalog } from './adapter-catalog.js'
import type { GatewayOptions } from '../gateway-options.js'
import { HostAdapters } from './host-adapters.js'
import { version } from '../version.js'
import { layoutOf, withConfig } from '../with-config.js'
import { workspaceAdapters } from './workspace-adapters.js'

/** What of a gateway's options concerns its adapters, and a person beside it. */
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
  /** A person who can be asked; without one, a step that needs one is reported as pending. */
  readonly terminal?: Terminal
}

/**
 * The adapters of a home without a gateway: to install, set up, log in and examine agents beside one that runs, or
 * without any. Takes no lock but that of the adapter that is changed.
 * @throws `invalid_request` when the home's config.json is not valid
 */
export async function openAdapters(options: OpenAdaptersOptions = {}): Promise<AdapterService> {
  const settings = await withConfig(options)
  const { clock = systemClock, onProblem = (): void => undefined, cwd = process.cwd() } = settings
  const layout = layoutOf(settings)
  const { terminal } = options
  const host = agentHost(settings, { layout, clock, onProblem })
  const workspaces = createWorkspaces({ home: layout.root, clock, defaultCwd: cwd, onWarning: onProblem })
  const trust = createWorkspaceTrust({ home: layout.root, clock, onWarning: onProblem })
  const catalog = openCatalog(settings, {
    host,
    layout,
    onProblem,
    ofWorkspaces: () => workspaceAdapters(workspaces, trust),
  })
  const adapters = new HostAdapters(catalog, terminal === undefined ? host : { ...host, terminal })
  return auditedAdapters(adapters, offlineLog({ ...settings, onProblem }))
}

export interface HostParts {
  readonly layout: HomeLayout
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
  /** Where the gateway is reached, once it listens. */
  readonly url?: () => string | undefined
}

/** This host as agents and installers see it, with its secrets and what keeps them from sight. */
export function agentHost(options: GatewayOptions, { layout, clock, onProblem, url }: HostParts): ProvisionHost {
  const { env = process.env, executables, environment, homes, bin, sandbox, sandboxProviders } = options
  const { proprietary, oauth } = options
  const redactor = createRedactor()
  const home = layout.root
  return {
    env,
    home,
    executables: { 'agentproto-demo-agent': demoAgentPath, ...executables },
    proprietary: { ...BUNDLED_CLIENTS, ...proprietary },
    clock,
    client: { name: 'agentproto', version },
    sharedProcesses: new SharedProcesses(),
    provisioning: launchProvisioning,
    redactor,
    secrets: createSecrets({ home, env, redactor, clock, onWarning: onProblem }),
    sandbox: {
      ...(sandboxProviders === undefined ? {} : { providers: sandboxProviders }),
      ...(sandbox === undefined ? {} : { whenUnavailable: sandbox }),
    },
    ...(environment === undefined ? {} : { environment }),
    ...(homes === undefined ? {} : { homes }),
    ...(bin === undefined ? {} : { bin }),
    ...(oauth === undefined ? {} : { oauth }),
    ...(url === undefined ? {} : { url }),
  }
}

export interface CatalogParts {
  readonly host: ProvisionHost
  readonly layout: HomeLayout
  readonly onProblem: (problem: string) => void
  /** Folders of trusted workspaces, asked at every look. */
  readonly ofWorkspaces: () => Promise<readonly CatalogFolder[]>
}

export function openCatalog(
  options: GatewayOptions,
  { host, layout, onProblem, ofWorkspaces }: CatalogParts,
): ManifestCatalog {
  const folders = adapterFolders(options, layout)
  return new ManifestCatalog({
    folders: async () => [...(await ofWorkspaces()), ...folders],
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
