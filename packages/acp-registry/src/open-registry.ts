import { type Clock, isAgentprotoError, systemClock } from '@agentproto/contracts'
import { fetchRegistry, type RegistryAnswer, unreachable } from './fetch-registry.js'
import { parseRegistry } from './parse-registry.js'
import { PUBLIC_REGISTRY, registryAddress } from './registry-address.js'
import { type KeptRegistry, RegistryCache } from './registry-cache.js'
import type { Registry } from './registry-entry.js'

const DAY_MS = 24 * 60 * 60 * 1000

export interface RegistryOptions {
  /** Default: the public registry. */
  readonly url?: string
  /** Folder of agentproto's state, in which the answer is kept. */
  readonly home: string
  /** A younger answer is used without asking, in milliseconds. Default: a day. */
  readonly maxAgeMs?: number
  readonly clock?: Clock
  /** Default: Node's own. */
  readonly fetch?: typeof fetch
}

export interface ReadOptions {
  /** `refresh` asks whatever the age; `offline` never asks. Default: asks when the kept answer is too old. */
  readonly mode?: 'refresh' | 'offline'
  readonly signal?: AbortSignal
}

/** A registry as it was at a time. */
export interface RegistrySnapshot extends Registry {
  readonly url: string
  /** When it was last confirmed, in milliseconds since the epoch. */
  readonly confirmedAt: number
  /** How long ago that was, in milliseconds. */
  readonly ageMs: number
  /** Why it is older than it should be, or was not kept: a sentence. Absent if neither is so. */
  readonly warning?: string
}

/** A registry that can be read. */
export interface RegistryReader {
  readonly url: string
  /**
   * The registry: the kept answer while it is young, else a new one. If none can be had, the kept one with a `warning`.
   * @throws `registry_unavailable` and `registry_invalid` without a kept answer, `cancelled`
   */
  read(options?: ReadOptions): Promise<RegistrySnapshot>
}

/** Opens a registry by its address. @throws `registry_invalid` for an address that may not be asked */
export function openRegistry(options: RegistryOptions): RegistryReader {
  const { home, clock = systemClock, maxAgeMs = DAY_MS, fetch = globalThis.fetch } = options
  const address = registryAddress(options.url ?? PUBLIC_REGISTRY)
  const cache = new RegistryCache({ home, url: address.href, clock })

  async function read({ mode, signal = new AbortController().signal }: ReadOptions = {}): Promise<RegistrySnapshot> {
    const kept = await cache.read()
    if (kept !== undefined && (mode === 'offline' || (mode !== 'refresh' && isYoung(kept)))) return snapshot(kept)
    if (mode === 'offline') throw unreachable(address, 'it was not read before, and was not asked now')
    let confirmed: KeptRegistry
    try {
      confirmed = confirmedBy(await fetchRegistry({ address, kept, clock, fetch, signal }), kept)
    } catch (thrown) {
      if (kept === undefined || !isAgentprotoError(thrown) || thrown.code === 'cancelled') throw thrown
      return { ...snapshot(kept), warning: thrown.message }
    }
    return { ...snapshot(confirmed), ...(await keep(confirmed)) }
  }

  /** A home without room is no reason to withhold what was read. */
  async function keep(confirmed: KeptRegistry): Promise<Pick<RegistrySnapshot, 'warning'>> {
    try {
      await cache.write(confirmed)
      return {}
    } catch (thrown) {
      if (!isAgentprotoError(thrown) || thrown.code !== 'storage_failed') throw thrown
      return { warning: thrown.message }
    }
  }

  /** An answer from the future comes from a clock that was set back. */
  function isYoung({ confirmedAt }: KeptRegistry): boolean {
    const ageMs = clock.now() - confirmedAt
    return ageMs >= 0 && ageMs < maxAgeMs
  }

  function confirmedBy(answer: RegistryAnswer, kept: KeptRegistry | undefined): KeptRegistry {
    const confirmedAt = clock.now()
    if (answer.changed) {
      const { text, validators } = answer
      return { text, validators, confirmedAt, registry: parseRegistry(text, address) }
    }
    if (kept !== undefined) return { ...kept, confirmedAt }
    throw unreachable(address, 'it answered that nothing has changed, and nothing was kept')
  }

  const snapshot = ({ registry, confirmedAt }: KeptRegistry): RegistrySnapshot => ({
    ...registry,
    url: address.href,
    confirmedAt,
    ageMs: Math.max(0, clock.now() - confirmedAt),
  })

  return { url: address.href, read }
}
