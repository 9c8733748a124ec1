import { request as plainRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'

/** What the answers' bodies wait for before more of them is read: the host's back-pressure. */
export type Gate = () => Promise<unknown> | undefined

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A peer that is silent this long is asked by the kernel whether it is still there, in milliseconds. */
const KEEP_ALIVE_MS = 30_000

/**
 * A `fetch` over `node:http`: the global one gives a body up after five minutes of silence, and an agent may think for
 * longer. Redirects are not followed; proxies are not used.
 */
export const httpFetch =
  (gate: Gate): Fetch =>
  (url, init = {}) =>
    new Promise((resolve, reject) => {
      const { method = 'GET', headers, body, signal } = init
      const target = new URL(url)
      const send = target.protocol === 'https:' ? secureRequest : plainRequest
      const options = { method, headers: Object.fromEntries(new Headers(headers)), ...(signal ? { signal } : {}) }
      const request = send(target, options, (answer) => {
        try {
          resolve(asResponse(answer, gate))
        } catch (cause) {
          // Such as the status 600, which a `Response` cannot have; thrown here, it would end the gateway.
          answer.destroy()
          reject(new Error('The server answered what is no HTTP response', { cause }))
        }
      })
      request.once('error', reject)
      request.once('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
      request.end(typeof body === 'string' ? body : undefined)
    })

function asResponse(message: IncomingMessage, gate: Gate): Response {
  const { statusCode: status = 500, statusMessage: statusText = '' } = message
  const bodiless = status === 204 || status === 205 || status === 304
  if (bodiless) message.resume()
  return new Response(bodiless ? null : gatedBody(message, gate), { status, statusText, headers: headersOf(message) })
}

/** Reads on only once the host has taken what was read before. */
function gatedBody(message: IncomingMessage, gate: Gate): ReadableStream<Uint8Array> {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await gate()
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      message.destroy()
    },
  })
}

const headersOf = ({ headersDistinct }: IncomingMessage): Headers =>
  new Headers(Object.entries(headersDistinct).flatMap(([name, values = []]) => values.map((value) => [name, value])))
