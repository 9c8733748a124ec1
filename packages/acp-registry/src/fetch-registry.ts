import { AgentprotoError, type Clock, defined } from '@agentproto/contracts'
import { REGISTRY_BYTES_MAX, tooLarge } from './parse-registry.js'
import type { KeptRegistry, Validators } from './registry-cache.js'
import { safeFetch } from './safe-fetch.js'

const REGISTRY_TIMEOUT_MS = 60_000

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
export async function fetchRegistry({ kept, ...request }: Request): Promise<RegistryAnswer> {
  const { address } = request
  const { status, headers, bytes } = await safeFetch({
    ...request,
    headers: { accept: 'application/json', ...conditions(kept) },
    bytesMax: REGISTRY_BYTES_MAX,
    timeoutMs: REGISTRY_TIMEOUT_MS,
    unreachable: (why, cause) => unreachable(address, why, cause),
    tooLarge,
  })
  if (status === 304) return { changed: false }
  if (status !== 200) throw unreachable(address, `it answered ${status}`)
  return { changed: true, text: Buffer.from(bytes).toString('utf8'), validators: validatorsOf(headers) }
}

/** The server compares what it said of the document that was kept. */
function conditions(kept: KeptRegistry | undefined): Readonly<Record<string, string>> {
  const { etag, lastModified } = kept?.validators ?? {}
  if (etag !== undefined) return { 'if-none-match': etag }
  return lastModified === undefined ? {} : { 'if-modified-since': lastModified }
}

const HEADER_CHARS_MAX = 1_024

function validatorsOf(headers: Headers): Validators {
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
