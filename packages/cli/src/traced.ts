import type { ClientOptions } from '@agentproto/client'
import { traceOf } from '@agentproto/contracts'
import type { Io } from './io.js'

/** The trace that the command runs in, where whatever ran it said so in its environment. */
export function traced({ env }: Pick<Io, 'env'>): Pick<ClientOptions, 'trace'> {
  const trace = traceOf({ traceparent: env['TRACEPARENT'], tracestate: env['TRACESTATE'] })
  return trace === undefined ? {} : { trace }
}
