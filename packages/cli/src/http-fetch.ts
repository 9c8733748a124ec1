import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Fetch, FetchReader, FetchResponse } from '@agentproto/client'
import type { ClientTls } from './client-tls.js'

/**
 * A `fetch` over `node:http`: it loads faster than the built-in one and takes client certificates
 * (docs/decisions/http-client.md).
 * @param tls For addresses with https
 */
export const httpFetch =
  (tls: ClientTls = {}): Fetch =>
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
      sent.end(body)
    })
    return isTls
      ? answer.catch(async (thrown: unknown) => (await import('./client-tls.js')).explainTlsFailure(url, thrown))
      : answer
  }

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
