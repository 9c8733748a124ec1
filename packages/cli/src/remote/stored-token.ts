import { AgentprotoError } from '@agentproto/contracts'
import type { GatewayTokens } from '@agentproto/secrets'
import { warn, type CliContext } from '../cli-context.js'
import { explained } from '../explained.js'
import { homeOf } from '../daemon/daemon-record.js'

/** Opens the tokens that this user has for gateways elsewhere. Reads nothing yet. */
export async function openGatewayTokens(context: Pick<CliContext, 'env' | 'stderr'>): Promise<GatewayTokens> {
  const { createGatewayTokens } = await import('@agentproto/secrets')
  const onWarning = (message: string): void => warn(context, message)
  return createGatewayTokens({ home: homeOf(context).root, env: context.env, onWarning })
}

/** @throws `unauthorized` when this user has no token for the gateway */
export async function storedToken(context: CliContext, url: string): Promise<string> {
  const token = await findStoredToken(context, url)
  if (token !== undefined) return token
  throw explained(
    new AgentprotoError('unauthorized', `There is no token for ${url}`, {
      expected: 'AGENTPROTO_TOKEN, or one that is stored for this address',
      hint: `${MAKE_ONE}; then here: agentproto remote login ${url}`,
    }),
  )
}

/** Undefined when this user has none for exactly this address. */
export const findStoredToken = async (
  context: Pick<CliContext, 'env' | 'stderr'>,
  url: string,
): Promise<string | undefined> => (await openGatewayTokens(context)).get(url)

export const MAKE_ONE = 'On its machine: agentproto token create --name <name> --scope operate'
