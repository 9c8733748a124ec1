import { AgentprotoError, type Clock, isAgentprotoError } from '@agentproto/contracts'
import { isLoopbackHttp, isSafeAddress } from './registry-address.js'

const REDIRECTS_MAX = 5

export interface SafeFetch {
  /** One that {@link isSafeAddress}. */
  readonly address: URL
  readonly headers: Readonly<Record<string, string>>
  /** Of the answer, after decompression. */
  readonly bytesMax: number
  /** Of the request with all of its redirects and the whole answer, in milliseconds. */
  readonly timeoutMs: number
  readonly clock: Clock
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
  /** The errors of what cannot be had. */
  readonly unreachable: (why: string, cause?: unknown) => AgentprotoError
  readonly tooLarge: () => AgentprotoError
}

export interface Fetched {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
}

/**
 * Asks an address of others: each redirect is checked before it is asked, and size and time are bounded.
 * @throws what `unreachable` and `tooLarge` make, `cancelled`
 */
export async function safeFetch(request: SafeFetch): Promise<Fetched> {
  const { clock, timeoutMs, unreachable } = request
  const late = new AbortController()
  const signal = AbortSignal.any([request.signal, late.signal])
  const timer = clock.after(timeoutMs, () => late.abort())
  try {
    const response = await follow({ ...request, signal })
    const { status, headers } = response
    return { status, headers, bytes: status === 200 ? await bytesOf(response, request) : new Uint8Array() }
  } catch (thrown) {
    if (request.signal.aborted) throw new AgentprotoError('cancelled', 'The request was cancelled')
    if (late.signal.aborted) throw unreachable(`it did not answer within ${timeoutMs / 1_000} s`)
    if (isAgentprotoError(thrown)) throw thrown
    throw unreachable(reasonOf(thrown), thrown)
  } finally {
    timer.cancel()
    // Ends the connection of an answer that was not read to its end.
    late.abort()
  }
}

async function follow({ address, headers, fetch, signal, unreachable }: SafeFetch): Promise<Response> {
  let url = address
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await fetch(url, { headers, redirect: 'manual', signal })
    if (!REDIRECTS.includes(response.status)) return response
    const to = redirectOf(response, url)
    if (typeof to === 'string') throw unreachable(to)
    url = to
  }
  throw unreachable(`it redirected more than ${REDIRECTS_MAX} times`)
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

/** @returns why not, as a text */
function redirectOf({ headers }: Response, from: URL): URL | string {
  const location = headers.get('location') ?? ''
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  if (to === undefined) return 'it redirected to no address'
  // http on loopback is for tests and mirrors of one's own: another server may not lead there.
  if (isSafeAddress(to) && (to.protocol === 'https:' || isLoopbackHttp(from))) return to
  return `it redirected to ${to.protocol}//${to.host}, which is not protected against changes in transit`
}

async function bytesOf({ body, headers }: Response, { bytesMax, tooLarge }: SafeFetch): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > bytesMax) throw tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  // After decompression: a small transfer may be a large document.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** fetch says "fetch failed" and keeps the reason as its cause. */
const reasonOf = (thrown: unknown): string => {
  const { message = String(thrown), cause } = thrown instanceof Error ? thrown : {}
  return cause instanceof Error ? cause.message : message
}
