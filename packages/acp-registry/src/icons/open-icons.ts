import { AgentprotoError, asString, type Clock, defined, isAgentprotoError, systemClock } from '@agentproto/contracts'
import { isSafeAddress } from '../registry-address.js'
import { safeFetch } from '../safe-fetch.js'
import { IconCache, type KeptIcon } from './icon-cache.js'
import { ICON_BYTES_MAX, sanitiseSvg } from './sanitise-svg.js'

const DAY_MS = 24 * 60 * 60 * 1000
/** A drawing changes rarely. */
const ICON_AGE_MS = 7 * DAY_MS
/** How long a server that gave no icon is not asked again. */
const FAILURE_AGE_MS = DAY_MS / 24
const ICON_TIMEOUT_MS = 10_000

export interface IconsOptions {
  /** Folder of agentproto's state, in which icons are kept. */
  readonly home: string
  readonly clock?: Clock
  /** Default: Node's own. */
  readonly fetch?: typeof fetch
}

/** The icons that entries of registries name. */
export interface Icons {
  /**
   * A drawing without anything that could be executed or loaded, as SVG in UTF-8; kept in the home for a week, and for as long as
   * no newer one can be had.
   * @param address as an entry names it
   * @throws `icon_not_found` with the reason
   */
  read(address: string): Promise<string>
}

/** Opens the icons of a home. What is asked for twice at once is loaded once. */
export function openIcons({ home, clock = systemClock, fetch = globalThis.fetch }: IconsOptions): Icons {
  const cache = new IconCache({ home, clock })
  const reading = new Map<string, Promise<KeptIcon>>()

  async function read(address: string): Promise<string> {
    const icon = await (reading.get(address) ?? begin(address))
    if (icon.svg !== undefined) return icon.svg
    throw noIcon(icon.problem ?? 'it was not found')
  }

  function begin(address: string): Promise<KeptIcon> {
    const work = current(address).finally(() => reading.delete(address))
    reading.set(address, work)
    return work
  }

  async function current(address: string): Promise<KeptIcon> {
    const kept = await cache.read(address)
    if (kept !== undefined && isYoung(kept)) return kept
    const loaded = await load(address)
    // An older drawing is better than none. It is asked for again as soon as after any failure.
    const icon = { ...defined({ svg: kept?.svg }), ...loaded, address, at: clock.now() }
    // A home without room is no reason to withhold it.
    await cache.write(icon).catch(() => undefined)
    return icon
  }

  /** An answer from the future comes from a clock that was set back. */
  function isYoung({ at, problem }: KeptIcon): boolean {
    const ageMs = clock.now() - at
    return ageMs >= 0 && ageMs < (problem === undefined ? ICON_AGE_MS : FAILURE_AGE_MS)
  }

  async function load(address: string): Promise<Pick<KeptIcon, 'svg' | 'problem'>> {
    const url = URL.canParse(address) ? new URL(address) : undefined
    if (url === undefined || !isSafeAddress(url)) return { problem: 'its address is not https' }
    try {
      const { status, bytes } = await safeFetch({
        address: url,
        headers: { accept: 'image/svg+xml' },
        bytesMax: ICON_BYTES_MAX,
        timeoutMs: ICON_TIMEOUT_MS,
        clock,
        fetch,
        signal: new AbortController().signal,
        unreachable: noIcon,
        tooLarge: () => noIcon(`it is larger than ${ICON_BYTES_MAX / 1024} KiB`),
      })
      if (status !== 200) return { problem: `its server answered ${status}` }
      const icon = sanitiseSvg(bytes)
      return icon.ok ? { svg: icon.svg } : { problem: icon.reason }
    } catch (thrown) {
      if (isAgentprotoError(thrown)) return { problem: asString(thrown.parts.given) || thrown.message }
      throw thrown
    }
  }

  return { read }
}

const noIcon = (why: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('icon_not_found', 'There is no icon that can be shown', { given: why, ...defined({ cause }) })
