import type { AdapterService } from '@agentproto/contracts/wire'
import type { Terminal } from '@agentproto/provisioning'
import { createRedactor } from '@agentproto/secrets'
import { assertHomeReadable, openOfflineAudit } from '@agentproto/server'
import type { GatewayOptions } from './gateway-options.js'
import { openAgents } from './open-agents.js'
import { layoutOf, settingsOf } from './settings.js'

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
 * @throws `invalid_request` when the home's config.json is not valid, `home_newer`, `home_invalid`
 */
export async function openAdapters(options: OpenAdaptersOptions = {}): Promise<AdapterService> {
  assertHomeReadable(layoutOf(options).root)
  const settings = await settingsOf(options)
  const { onProblem = () => undefined } = settings
  const audit = openOfflineAudit({ ...settings, onProblem })
  const { terminal } = options
  return openAgents(settings, { redactor: createRedactor(), onProblem, audit, ...(terminal && { terminal }) }).adapters
}
