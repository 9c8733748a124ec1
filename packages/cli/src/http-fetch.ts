import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Fetch, FetchReader, FetchResponse } from '@agentproto/client'
import type { ClientTls } from './client-tls.js'

/**
 * A `fetch` over `node:http`: it loads faster than the built-in one and takes client certificates
 * (docs/decisions/http-client.md).
 * @param tls For addresses with https
 * @param connectMs How long a connection may take, in milliseconds; default: as long as the system allows
 */
export const httpFetch =
  (tls: ClientTls = {}, connectMs?: number): Fetch =>
  async (url, { method, headers, body, signal }) => {
    const isTls = url.startsWith('https:')
    const send = isTls ? (await import('node:https')).request : httpRequest
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options: RequestOptions & ClientTls = {
      method,
      headers: { ...headers, ...length },
      ...(signal === undefined ? {} : { signal }),
      ...(isTls ? tls : {}),
    }
    const answer = new Promise<FetchResponse>((resolve, reject) => {
      const sent = send(url, options, (message) => resolve(responseOf(message)))
      sent.on('error', reject)
      if (connectMs !== undefined) limitConnecting(sent, { ms: connectMs, until: isTls ? 'secureConnect' : 'connect' })
      sent.end(body)
    })
    return isTls
      ? answer.catch(async (thrown: unknown) => (await import('./client-tls.js')).explainTlsFailure(url, thrown))
      : answer
  }

/** How long a connection may be silent before the system checks that the other end is there, in milliseconds. */
const PROBE_AFTER_MS = 20_000

/** Gives up a connection that does not come, and notices one that is gone while an answer is waited for. */
function limitConnecting(sent: ClientRequest, { ms, until }: { readonly ms: number; readonly until: string }): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return
    socket.setKeepAlive(true, PROBE_AFTER_MS)
    const timer = setTimeout(() => sent.destroy(tooSlow(ms)), ms)
    const stop = (): void => clearTimeout(timer)
    socket.once(until, stop).once('close', stop)
  })
}

/** The code is undici's, which says that nothing was sent. */
const tooSlow = (ms: number): Error =>
  Object.assign(new Error(`no connection within ${ms / 1_000} s`), { code: 'UND_ERR_CONNECT_TIMEOUT' })

function responseOf(message: IncomingMessage): FetchResponse {
  const status = message.statusCode ?? 0
  return {
    ok: status >= 200 && status < 300,
    status,
    json: () => json(message),
    body: { getReader: () => readerOf(message) },
  }
}

function readerOf(message: IncomingMessage): FetchReader {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
  return {
    read: async () => {
      const { done = false, value } = await chunks.next()
      return { done, value }
    },
    cancel: () => {
      message.destroy()
      return Promise.resolve()
    },
  }
}
