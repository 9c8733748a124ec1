import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Fetch, FetchReader, FetchResponse } from '@agentproto/client'

/**
 * A `fetch` over `node:http`. The built-in one takes 100 ms to load, twice as long as Node itself, and each
 * of our commands is a process of its own.
 */
export const httpFetch: Fetch = async (url, { method, headers, body, signal }) => {
  const send = url.startsWith('https:') ? (await import('node:https')).request : httpRequest
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options: RequestOptions = {
    method,
    headers: { ...headers, ...length },
    ...(signal === undefined ? {} : { signal }),
  }
  return new Promise((resolve, reject) => {
    const sent = send(url, options, (message) => resolve(responseOf(message)))
    sent.on('error', reject)
    sent.end(body)
  })
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
