import { type Operations, read } from './operation.js'

const speaksAcp = { calls: 'acp', answers: { 200: { description: 'An ACP message, or a stream of them' } } } as const

/** ACP over the network. Each of its methods needs a scope of its own: see `ACP_METHODS`. */
export const acpOperations = {
  'ALL /acp': read('acp', {
    summary: 'Speaks ACP over streamable HTTP, or over a WebSocket',
    ...speaksAcp,
    errors: ['request_limit_reached', 'stream_limit_reached'],
  }),
  'ALL /acp/:agent': read('acpOfAgent', {
    summary: 'The same with one agent, as if there were no others',
    ...speaksAcp,
    errors: ['adapter_not_found', 'manifest_invalid', 'request_limit_reached', 'stream_limit_reached'],
  }),
} as const satisfies Operations

/** Whether a request for a path may become a WebSocket. */
export const isAcpPath = (path: string): boolean => /^\/acp(?:\/[^/]+)?\/?$/.test(path)
