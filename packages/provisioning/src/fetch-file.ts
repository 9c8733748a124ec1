import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { AgentprotoError, type Clock } from '@agentproto/contracts'

/** What is fetched, how much of it is taken, and what it must be. */
export interface Fetching {
  readonly url: string
  /** Where to; must not exist. It is for its owner alone, and gone again when anything is wrong. */
  readonly to: string
  readonly maxBytes: number
  /** Of the content, in hexadecimal. Without it nothing vouches for the content. */
  readonly sha256?: string
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly onProgress?: (bytes: number, total?: number) => void
}

/** How long nothing may come, in milliseconds. */
const SILENCE_MS = 60_000
const PROGRESS_EVERY_BYTES = 1024 * 1024

/**
 * Fetches a file in a stream and checks it before anybody can use it.
 * @throws `install_failed` when it cannot be had, is too large, or is not what the manifest says
 */
export async function fetchFile(fetching: Fetching): Promise<void> {
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
    const response = await fetch(url, { signal, redirect: 'follow' })
    if (!response.ok || response.body === null) throw failed(url, `it answered ${response.status}`)
    checkAddress({ ...fetching, url: response.url })
    await store(response.body, { ...fetching, total: lengthOf(response), heard })
  } catch (thrown) {
    await rm(to, { force: true })
    if (fetching.signal.aborted) throw new AgentprotoError('cancelled', 'It was cancelled')
    if (quiet.signal.aborted) throw failed(url, `nothing came for ${SILENCE_MS / 1_000} s`)
    throw thrown instanceof AgentprotoError ? thrown : failed(url, reasonOf(thrown), thrown)
  } finally {
    timer.cancel()
  }
}

interface Storing extends Fetching {
  readonly total: number | undefined
  readonly heard: () => void
}

async function store(body: ReadableStream<Uint8Array>, storing: Storing): Promise<void> {
  const { url, to, maxBytes, sha256, total, heard, onProgress } = storing
  if (total !== undefined && total > maxBytes) throw tooLarge(url, maxBytes)
  const hash = createHash('sha256')
  const file = await open(to, 'wx', 0o600)
  let bytes = 0
  let told = 0
  try {
    for await (const chunk of body) {
      heard()
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(url, maxBytes)
      hash.update(chunk)
      await file.write(chunk)
      if (bytes - told < PROGRESS_EVERY_BYTES) continue
      told = bytes
      onProgress?.(bytes, total)
    }
  } finally {
    await file.close()
  }
  onProgress?.(bytes, total)
  const digest = hash.digest('hex')
  if (sha256 === undefined || digest === sha256) return
  throw new AgentprotoError('install_failed', `What ${url} gave is not what the manifest vouches for; it was not run`, {
    expected: `SHA-256 ${sha256}`,
    given: digest,
    hint: 'Take a newer manifest of the adapter, or find out who changed the file',
  })
}

/** Where nothing vouches for the content, the way must: TLS, or no network at all. */
function checkAddress({ url, sha256 }: Pick<Fetching, 'url' | 'sha256'>): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:') return
  const loopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
  if (protocol === 'http:' && (loopback || sha256 !== undefined)) return
  throw new AgentprotoError('install_failed', `${url} can be changed by anybody on its way`, {
    expected: 'an https address, or a verify_sha256',
  })
}

function lengthOf(response: Response): number | undefined {
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  // Of what is compressed on the way, the length says nothing about the content.
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
