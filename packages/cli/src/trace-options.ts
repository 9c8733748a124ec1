import type { ClientOptions } from '@agentproto/client'
import { defined, traceOf } from '@agentproto/contracts'
import type { CliContext } from './cli-context.js'

/** The W3C trace that the caller passes in the environment, as an option of the client. */
export function traceOptions({ env }: Pick<CliContext, 'env'>): Pick<ClientOptions, 'trace'> {
  return defined({ trace: traceOf({ traceparent: env['TRACEPARENT'], tracestate: env['TRACESTATE'] }) })
}
