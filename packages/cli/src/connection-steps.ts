import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import type { CliContext } from './cli-context.js'
import { isOwnGateway } from './daemon/connect.js'
import { gatewayUrl, isPrivateWay } from './daemon/gateway-url.js'
import { homeOf, readDaemon } from './daemon/daemon-record.js'
import { isExplained } from './explained.js'

/**
 * The same failure with a step that works, where it is about the gateway or the token that the environment names: the
 * gateway does not know which variables the command has read.
 */
export async function withConnectionStep(context: Reading, thrown: unknown): Promise<unknown> {
  if (!isAgentprotoError(thrown) || isExplained(thrown)) return thrown
  if (thrown.code === 'daemon_not_running') return notAnswering(context.env, thrown)
  // A file of the home that cannot be read has a cause, and a step of its own.
  if (thrown.code === 'unauthorized' && thrown.cause === undefined) return refused(context, thrown)
  return thrown
}

type Environment = CliContext['env']
/** Where a command reads which gateway it uses, and its token. */
type Reading = Pick<CliContext, 'env' | 'stderr'>

async function notAnswering(env: Environment, error: AgentprotoError): Promise<AgentprotoError> {
  const named = gatewayUrl(env)
  if (named === undefined) return error
  const own = (await readDaemon(homeOf({ env })))?.url
  return new AgentprotoError('daemon_not_running', `No gateway answers at ${named}, which AGENTPROTO_URL names`, {
    hint: `To use the gateway of this home${own === undefined ? '' : `, ${own}`}: unset AGENTPROTO_URL`,
    cause: error,
  })
}

async function refused(context: Reading, error: AgentprotoError): Promise<AgentprotoError> {
  const { env } = context
  const named = gatewayUrl(env)
  const place = named === undefined ? 'The gateway' : `The gateway at ${named}`
  if (env['AGENTPROTO_TOKEN']) {
    const own = 'To use the token of this home: unset AGENTPROTO_TOKEN'
    return new AgentprotoError('unauthorized', `${place} does not know the token in AGENTPROTO_TOKEN`, {
      hint: (await isOwnGateway(context)) ? own : SET_ONE,
      cause: error,
    })
  }
  const { findStoredToken, MAKE_ONE } = await import('./remote/stored-token.js')
  const stored = named === undefined ? undefined : await findStoredToken(context, named)
  if (named === undefined || stored === undefined)
    return new AgentprotoError('unauthorized', `${place} needs a token`, { hint: SET_ONE, cause: error })
  return isPrivateWay(named)
    ? new AgentprotoError('unauthorized', `${place} does not accept the stored token: it was revoked or replaced`, {
        hint: `${MAKE_ONE}; then here: agentproto remote login ${named}`,
        cause: error,
      })
    : new AgentprotoError('unauthorized', `${place} needs a token, and a stored one is not sent in plain HTTP`, {
        expected: 'its address with https: everyone on the way could read the token',
        hint: 'In a network that encrypts by itself, set AGENTPROTO_TOKEN',
        cause: error,
      })
}

const SET_ONE =
  'Set AGENTPROTO_TOKEN to what this prints on its machine: agentproto token create --name <name> --scope operate'
