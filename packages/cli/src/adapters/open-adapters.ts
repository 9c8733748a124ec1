import { defined, isAgentprotoError } from '@agentproto/contracts'
import type { AdapterService } from '@agentproto/contracts/wire'
import type { Terminal } from '@agentproto/runtime'
import { warn, type CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { gatewayUrl } from '../daemon/gateway-url.js'

/**
 * The adapters of the gateway that `AGENTPROTO_URL` names, else those of the home, which needs no running gateway.
 * @param terminal asks the user; a gateway elsewhere cannot use it
 */
export async function openAdapters(context: CliContext, terminal?: Terminal): Promise<AdapterService> {
  if (gatewayUrl(context.env) !== undefined) return (await connect(context)).adapters
  const runtime = await import('@agentproto/runtime')
  const onProblem = (problem: string): void => warn(context, problem)
  return runtime.openAdapters({ env: context.env, cwd: context.cwd, onProblem, ...defined({ terminal }) })
}

/** The same, but of a running gateway, which knows what its sessions run. Without one, no session runs. */
export async function openOwnAdapters(context: CliContext): Promise<Pick<AdapterService, 'get' | 'remove'>> {
  try {
    return (await connect({ ...context, autoStart: false })).adapters
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code === 'daemon_not_running') return openAdapters(context)
    throw thrown
  }
}
