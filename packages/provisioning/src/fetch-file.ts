import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { AgentprotoError, type Clock } from '@agentproto/contracts'

/** A download, with its limit and its checksum. */
export interface Fetching {
  readonly url: string
  /** Where to; must not exist. Only its owner can read it, and it is removed after a failure. */
  readonly to: string
  readonly maxBytes: number
  /** Of the content, in hexadecimal. Without it the content is not verified. */
  readonly sha256?: string
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly onProgress?: (bytes: number, total?: number) => void
}

/** Time limit without any data, in milliseconds. */
const SILENCE_MS = 60_000
const PROGRESS_EVERY_BYTES = 1024 * 1024

/** A file that was downloaded. */
export interface FetchedFile {
  readonly bytes: number
  /** Of its content, in lower-case hexadecimal. */
  readonly sha256: string
}

/**
 * Downloads a file and verifies it before it is used.
 * @throws `install_failed` when it cannot be downloaded, is too large, or has another checksum
 */
export async function fetchFile(fetching: Fetching): Promise<FetchedFile> {
  checkAddress(fetching)
  const { url, to, clock } = fetching
  const quiet = new AbortController()
  const signal = AbortSignal.any([fetching.signal, quiet.signal])
  let timer = clock.after(SILENCE_MS, () => quiet.abort())
  const heard = (): void => {
    timer.cancel()
    timer = clock.after(SILENCE_MS, () => quiet.abort())
  }
  try {
    const response = await follow(fetching, signal)
    if (!response.ok || response.body === null) throw failed(url, `the server answered ${response.status}`)
    return await store(response.body, { ...fetching, total: lengthOf(response), heard })
  } catch (thrown) {
    await rm(to, { force: true })
    if (fetching.signal.aborted) throw new AgentprotoError('cancelled', 'The download was cancelled')
    if (quiet.signal.aborted) throw failed(url, `no data came for ${SILENCE_MS / 1_000} s`)
    throw thrown instanceof AgentprotoError ? thrown : failed(url, reasonOf(thrown), thrown)
  } finally {
    timer.cancel()
  }
}

/** Each address is checked before it is asked: one that is not protected could lead anywhere. */
async function follow(fetching: Fetching, signal: AbortSignal): Promise<Response> {
  let { url } = fetching
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const response = await fetch(url, { signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (!REDIRECTS.includes(response.status) || location === null) return response
    await response.body?.cancel()
    if (!URL.canParse(location, url)) throw failed(fetching.url, 'it redirected to no address')
    const to = new URL(location, url).href
    checkAddress({ ...fetching, url: to })
    if (url.startsWith('https:') && to.startsWith('http:')) throw unprotected(to)
    url = to
  }
  throw failed(fetching.url, `it redirected more than ${REDIRECTS_MAX} times`)
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
const REDIRECTS_MAX = 10

interface Storing extends Fetching {
  readonly total: number | undefined
  readonly heard: () => void
}

async function store(body: ReadableStream<Uint8Array>, storing: Storing): Promise<FetchedFile> {
  const { url, to, maxBytes, sha256, total, heard, onProgress } = storing
  if (total !== undefined && total > maxBytes) throw tooLarge(url, maxBytes)
  const hash = createHash('sha256')
  const file = await open(to, 'wx', 0o600)
  let bytes = 0
  let reported = 0
  try {
    for await (const chunk of body) {
      heard()
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(url, maxBytes)
      hash.update(chunk)
      await file.write(chunk)
      if (bytes - reported < PROGRESS_EVERY_BYTES) continue
      reported = bytes
      onProgress?.(bytes, total)
    }
  } finally {
    await file.close()
  }
  onProgress?.(bytes, total)
  const digest = hash.digest('hex')
  if (sha256 === undefined || digest === sha256) return { bytes, sha256: digest }
  throw new AgentprotoError('install_failed', `The download of ${url} does not match its checksum; it was not run`, {
    expected: `SHA-256 ${sha256}`,
    given: digest,
    hint: 'Use a newer manifest of the adapter, or find out why the file changed',
    data: { sha256: digest },
  })
}

/** Without a checksum, the transport must be safe: TLS, or loopback. */
function checkAddress({ url, sha256 }: Pick<Fetching, 'url' | 'sha256'>): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:') return
  const loopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
  if (protocol === 'http:' && (loopback || sha256 !== undefined)) return
  throw unprotected(url)
}

const unprotected = (url: string): AgentprotoError =>
  new AgentprotoError('install_failed', `${url} is not protected against changes in transit`, {
    expected: 'an https address, or a verify_sha256',
  })

function lengthOf(response: Response): number | undefined {
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  // The length of a compressed transfer is not the length of the content.
  return Number.isSafeInteger(length) && !response.headers.has('content-encoding') ? length : undefined
}

const tooLarge = (url: string, maxBytes: number): AgentprotoError =>
  failed(url, `it is larger than ${Math.round(maxBytes / 1024 / 1024)} MiB`)

const failed = (url: string, why: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('install_failed', `${url} could not be fetched: ${why}`, { cause })

/** fetch says "fetch failed" and keeps the reason as its cause. */
const reasonOf = (thrown: unknown): string => {
  const { message = String(thrown), cause } = thrown instanceof Error ? thrown : {}
  return cause instanceof Error ? cause.message : message
}
