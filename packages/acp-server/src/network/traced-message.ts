import { asRecord, defined, isRecord } from '@agentproto/contracts'

/**
 * The message of a request with the trace that the request's headers name, where the message names none itself: its `_meta` is
 * where ACP has it, and the more precise of both.
 */
export function tracedMessage(message: unknown, headers: Headers): unknown {
  const traceparent = headers.get('traceparent')
  if (traceparent === null || !isRecord(message) || !isRecord(message['params'])) return message
  const { params } = message
  const meta = asRecord(params['_meta'])
  if (meta['traceparent'] !== undefined) return message
  const trace = defined({ traceparent, tracestate: headers.get('tracestate') ?? undefined })
  return { ...message, params: { ...params, _meta: { ...meta, ...trace } } }
}
