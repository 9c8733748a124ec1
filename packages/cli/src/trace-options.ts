import type { ClientOptions } from '@agentproto/client'
import { traceOf } from '@agentproto/contracts'
import type { CliContext } from './cli-context.js'

/** The W3C trace that the caller passes in the environment, as an option of the client. */
export function traceOptions({ env }: Pick<CliContext, 'env'>): Pick<ClientOptions, 'trace'> {
  const trace = traceOf({ traceparent: env['TRACEPARENT'], tracestate: env['TRACESTATE'] })
  return trace === undefined ? {} : { trace }
}
