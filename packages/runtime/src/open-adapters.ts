import { type AdapterService, systemClock } from '@agentproto/contracts'
import type { Terminal } from '@agentproto/provisioning'
import { HostAdapters, openCatalog } from '@agentproto/provisioning/catalog'
import { createRedactor } from '@agentproto/secrets'
import { openOfflineAudit, withAudit } from '@agentproto/server'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import { layoutOf, withConfig } from './config.js'
import type { GatewayOptions } from './gateway-options.js'
import { agentHost } from './agent-host.js'

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
  const catalog = openCatalog({ ...settings, userAdapters: layout.adapters, host, workspaces, trust, onProblem })
  const { terminal } = options
  const adapters = new HostAdapters(catalog, terminal === undefined ? host : { ...host, terminal })
  return withAudit('adapters', adapters, openOfflineAudit({ ...settings, onProblem }))
}
