import { agent } from '@agentclientprotocol/sdk'
import * as z from 'zod'
import type { AcpServer, AcpServerOptions } from './acp-host.js'
import { ClientStream } from './client-stream.js'
import { initialized } from './initialized.js'
import { listed } from './listed.js'
import { rpcErrorOf } from './rpc-error.js'
import { ServedClient } from './served-client.js'

/**
 * Serves the sessions of a gateway to one ACP client (AIP-44, kind bridge) until the client disconnects: it opens, lists,
 * loads, resumes and drives them, answers what their agents ask, and shows what other clients do in the sessions that
 * it has open. The turns of a client that disconnects keep running.
 */
export function createAcpServer(options: AcpServerOptions): AcpServer {
  const stream = new ClientStream(options)
  const served = new ServedClient(options, stream)
  const connection = appOf(options, served).connect(stream.stream)
  served.connected(connection)
  return { closed: connection.closed, close: () => connection.close() }
}

function appOf(options: AcpServerOptions, served: ServedClient): ReturnType<typeof agent> {
  return (
    agent({ name: options.info.name })
      .onRequest('initialize', async ({ params }) => {
        served.capabilities = params.clientCapabilities ?? {}
        return initialized(options, served.capabilities)
      })
      .onRequest('session/new', ({ params, requestId }) => mapped(served.open(params, requestId)))
      .onRequest('session/load', ({ params, requestId }) =>
        mapped(served.reopen('load', params.sessionId, requestId), params),
      )
      .onRequest('session/resume', ({ params, requestId }) =>
        mapped(served.reopen('resume', params.sessionId, requestId), params),
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
      .onRequest('session/prompt', ({ params, signal }) => mapped(served.prompt(params, signal), params))
      .onNotification('session/cancel', ({ params }) => served.cancel(params.sessionId))
  )
}

/** Maps errors to JSON-RPC errors. */
async function mapped<T>(work: Promise<T>, { sessionId }: { readonly sessionId?: string } = {}): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    throw rpcErrorOf(thrown, sessionId)
  }
}
