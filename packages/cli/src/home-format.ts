import type { CliContext } from './cli-context.js'
import { homeOf } from './daemon/daemon-record.js'
import { gatewayUrl } from './daemon/gateway-url.js'

/** Commands that work on files of the home themselves, with or without a gateway. */
const ON_FILES: ReadonlySet<string> = new Set(['adapters', 'config', 'remote', 'secrets', 'workspace'])
/** Commands for any home, and for none: they show what is wrong with it, or do not read it. */
const FOR_ANY_HOME: ReadonlySet<string> = new Set([
  'complete',
  'completion',
  'doctor',
  'logs',
  'manifest',
  'service',
  'stop',
  'support-bundle',
])

/**
 * Called before a command: refuses the home of a newer agentproto. One of an older is brought up to date by its gateway, or
 * here if the command works on its files.
 * @param name The first word of the command
 * @throws `home_newer`, `home_invalid`, `home_upgrade_failed`; `daemon_running` when an older gateway serves the home
 */
export async function useHome({ env }: CliContext, name: string): Promise<void> {
  const isOnFiles = ON_FILES.has(name)
  if (FOR_ANY_HOME.has(name) || (!isOnFiles && gatewayUrl(env) !== undefined)) return
  const { assertHomeReadable, prepareHome } = await import('@agentproto/server/home')
  const { root } = homeOf({ env })
  if (isOnFiles) await prepareHome(root)
  else assertHomeReadable(root)
}
