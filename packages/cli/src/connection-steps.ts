import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import type { CliContext } from './cli-context.js'
import { isOwnGateway } from './daemon/connect.js'
import { gatewayUrl } from './daemon/gateway-url.js'
import { homeOf, readDaemon } from './daemon/daemon-record.js'

/**
 * The same failure with a step that works, where it is about the gateway or the token that the environment names: the
 * gateway does not know which variables the command has read.
 */
export async function withConnectionStep({ env }: Pick<CliContext, 'env'>, thrown: unknown): Promise<unknown> {
  if (!isAgentprotoError(thrown) || EXPLAINED.has(thrown)) return thrown
  if (thrown.code === 'daemon_not_running') return notAnswering(env, thrown)
  // A file of the home that cannot be read has a cause, and a step of its own.
  if (thrown.code === 'unauthorized' && thrown.cause === undefined) return refused(env, thrown)
  return thrown
}

const EXPLAINED = new WeakSet<AgentprotoError>()

/** Marks an error that already names the step that works. @returns it */
export function explained(error: AgentprotoError): AgentprotoError {
  EXPLAINED.add(error)
  return error
}

type Environment = CliContext['env']

async function notAnswering(env: Environment, error: AgentprotoError): Promise<AgentprotoError> {
  const named = gatewayUrl(env)
  if (named === undefined) return error
  const own = (await readDaemon(homeOf({ env })))?.url
  return new AgentprotoError('daemon_not_running', `No gateway answers at ${named}, which AGENTPROTO_URL names`, {
    hint: `To use the gateway of this home${own === undefined ? '' : `, ${own}`}: unset AGENTPROTO_URL`,
    cause: error,
  })
}

async function refused(env: Environment, error: AgentprotoError): Promise<AgentprotoError> {
  const named = gatewayUrl(env)
  const place = named === undefined ? 'The gateway' : `The gateway at ${named}`
  const isGiven = Boolean(env['AGENTPROTO_TOKEN'])
  const what = isGiven ? `${place} does not know the token in AGENTPROTO_TOKEN` : `${place} needs a token`
  const other =
    'Set AGENTPROTO_TOKEN to what this prints on its machine: agentproto token create --name <name> --scope operate'
  const own = 'To use the token of this home: unset AGENTPROTO_TOKEN'
  return new AgentprotoError('unauthorized', what, {
    hint: isGiven && (await isOwnGateway({ env })) ? own : other,
    cause: error,
  })
}
