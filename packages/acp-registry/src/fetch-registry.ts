import { AgentprotoError, type Clock, defined, isAgentprotoError } from '@agentproto/contracts'
import { REGISTRY_BYTES_MAX, tooLarge } from './parse-registry.js'
import { isLoopbackHttp, isSafeAddress } from './registry-address.js'
import type { KeptRegistry, Validators } from './registry-cache.js'

/** Time limit of a request with all of its redirects and the whole answer, in milliseconds. */
const REGISTRY_TIMEOUT_MS = 60_000
const REDIRECTS_MAX = 5

/** What the server answered. */
export type RegistryAnswer =
  | { readonly changed: true; readonly text: string; readonly validators: Validators }
  | { readonly changed: false }

interface Request {
  readonly address: URL
  readonly kept: KeptRegistry | undefined
  readonly clock: Clock
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
}

/**
 * Asks a registry for its document, or whether it is still the one that was kept.
 * @throws `registry_unavailable`, `registry_invalid` for an answer that is too large, `cancelled`
 */
export async function fetchRegistry(request: Request): Promise<RegistryAnswer> {
  const { address, clock } = request
  const late = new AbortController()
  const signal = AbortSignal.any([request.signal, late.signal])
  const timer = clock.after(REGISTRY_TIMEOUT_MS, () => late.abort())
  try {
    const response = await follow({ ...request, signal })
    if (response.status === 304) return { changed: false }
    if (response.status !== 200) throw unreachable(address, `it answered ${response.status}`)
    return { changed: true, text: await textOf(response), validators: validatorsOf(response) }
  } catch (thrown) {
    if (request.signal.aborted) throw new AgentprotoError('cancelled', 'Reading the registry was cancelled')
    if (late.signal.aborted) throw unreachable(address, `it did not answer within ${REGISTRY_TIMEOUT_MS / 1_000} s`)
    if (isAgentprotoError(thrown)) throw thrown
    throw unreachable(address, reasonOf(thrown), thrown)
  } finally {
    timer.cancel()
    // Ends the connection of an answer that was not read to its end.
    late.abort()
  }
}

/** Sends the request, and again for each redirect, whose address is checked before it is asked. */
async function follow({ address, kept, fetch, signal }: Request): Promise<Response> {
  const headers = { accept: 'application/json', ...conditions(kept) }
  let url = address
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await fetch(url, { headers, redirect: 'manual', signal })
    if (!REDIRECTS.includes(response.status)) return response
    url = redirectOf(response, { from: url, address })
  }
  throw unreachable(address, `it redirected more than ${REDIRECTS_MAX} times`)
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

interface Redirect {
  readonly from: URL
  readonly address: URL
}

function redirectOf(response: Response, { from, address }: Redirect): URL {
  const location = response.headers.get('location') ?? ''
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  if (to === undefined) throw unreachable(address, 'it redirected to no address')
  // http on loopback is for tests and mirrors of one's own: another server may not lead there.
  if (isSafeAddress(to) && (to.protocol === 'https:' || isLoopbackHttp(from))) return to
  throw unreachable(
    address,
    `it redirected to ${to.protocol}//${to.host}, which is not protected against changes in transit`,
  )
}

/** The server compares what it said of the document that was kept. */
function conditions(kept: KeptRegistry | undefined): Readonly<Record<string, string>> {
  const { etag, lastModified } = kept?.validators ?? {}
  if (etag !== undefined) return { 'if-none-match': etag }
  return lastModified === undefined ? {} : { 'if-modified-since': lastModified }
}

async function textOf({ body, headers }: Response): Promise<string> {
  if (Number(headers.get('content-length') ?? 0) > REGISTRY_BYTES_MAX) throw tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  // After decompression: a small transfer may be a large document.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > REGISTRY_BYTES_MAX) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const HEADER_CHARS_MAX = 1_024

function validatorsOf({ headers }: Response): Validators {
  const header = (name: string): string | undefined => {
    const value = headers.get(name)
    return value === null || value === '' || value.length > HEADER_CHARS_MAX ? undefined : value
  }
  return defined({ etag: header('etag'), lastModified: header('last-modified') })
}

/** @throws `registry_unavailable` */
export const unreachable = ({ protocol, host, pathname }: URL, why: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('registry_unavailable', `The registry ${protocol}//${host}${pathname} cannot be read: ${why}`, {
    hint: 'Check the network, and the setting registry.url',
    ...defined({ cause }),
  })

/** fetch says "fetch failed" and keeps the reason as its cause. */
const reasonOf = (thrown: unknown): string => {
  const { message = String(thrown), cause } = thrown instanceof Error ? thrown : {}
  return cause instanceof Error ? cause.message : message
}
