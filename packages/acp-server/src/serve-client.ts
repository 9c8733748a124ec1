import { agent, RequestError } from '@agentclientprotocol/sdk'
import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import * as z from 'zod'
import { type AcpServer, OWN_CLIENT_BOUNDS, type ServeOptions } from './acp-host.js'
import type { ClientMessages } from './client-messages.js'
import { ClientStream } from './client-stream.js'
import { initialized } from './initialized.js'
import { listed } from './listed.js'
import { rpcErrorOf } from './rpc-error.js'
import { ServedClient } from './served-client.js'

/** Serves the sessions of a gateway to the client at the other end of `messages`, until that ends. */
export function serveClient(options: ServeOptions, messages: ClientMessages): AcpServer {
  const stream = new ClientStream(messages, options.bounds ?? OWN_CLIENT_BOUNDS)
  const served = new ServedClient(options, stream)
  const connection = appOf(options, served).connect(stream.stream)
  served.connected(connection)
  return { closed: connection.closed, close: () => connection.close() }
}

function appOf(options: ServeOptions, served: ServedClient): ReturnType<typeof agent> {
  const mapped = errorsMapped(options)
  return (
    agent({ name: options.info.name })
      .onRequest('initialize', async ({ params }) => {
        await mapped(options.check?.() ?? Promise.resolve())
        served.initialized(params.clientCapabilities ?? {})
        return initialized(options, served)
      })
      .onRequest('session/new', ({ params, requestId }) => mapped(served.open(params, requestId)))
      .onRequest('session/load', ({ params, requestId }) => mapped(served.load(params, requestId), params))
      .onRequest('session/resume', ({ params, requestId }) =>
        mapped(served.resume(params.sessionId, requestId), params),
      )
      // Not in the stable schema yet, so its parameters have a schema of their own.
      .onRequest('session/fork', z.looseObject({ sessionId: z.string() }), ({ params, requestId }) =>
        mapped(served.fork(params.sessionId, requestId), params),
      )
      .onRequest('session/list', ({ params }) => mapped(listed(options.sessions, params)))
      .onRequest('session/close', ({ params }) => mapped(served.closeSession(params.sessionId), params))
      .onRequest('session/delete', ({ params }) => mapped(served.remove(params.sessionId), params))
      .onRequest('session/set_mode', ({ params }) => mapped(served.setMode(params.sessionId, params.modeId), params))
      .onRequest('session/set_config_option', ({ params }) => mapped(served.setOption(params), params))
      .onRequest('session/prompt', ({ params, requestId, signal }) =>
        mapped(served.prompt(params, { requestId, signal }), params),
      )
      .onNotification('session/cancel', ({ params }) => served.cancel(params.sessionId))
  )
}

/** Maps errors to JSON-RPC errors. */
function errorsMapped({ onError }: ServeOptions) {
  return async function mapped<T>(work: Promise<T>, { sessionId }: { readonly sessionId?: string } = {}): Promise<T> {
    try {
      return await work
    } catch (thrown) {
      if (onError === undefined || isAgentprotoError(thrown) || thrown instanceof RequestError)
        throw rpcErrorOf(thrown, sessionId)
      onError(thrown)
      throw rpcErrorOf(FAILED)
    }
  }
}

const FAILED = new AgentprotoError('internal', 'The gateway failed to answer the request', {
  hint: 'See the log of the gateway',
})
