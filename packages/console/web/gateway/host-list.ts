import type { Host } from '@agentproto/contracts/wire'
import { computed, signal } from '@preact/signals'
import { messageOf } from '../parts/use-answer.js'
import { networkChange, pause } from './network.js'

/** How often hosts are read while a place shows them, in milliseconds: their heartbeats are seconds apart. */
const SHOWN_MS = 1_000
/** The answer of a large fleet, or over a slow network, takes long: most of the time is left for the rest of the page. */
const TIMES_ITS_DURATION = 10
/** How often otherwise: a gateway can join a fleet at any time. */
const OTHERWISE_MS = 30_000
/** An answer that takes longer is not waited for, in milliseconds: its connection may be dead. */
const ANSWER_MS = 15_000

/** The hosts that work as one fleet, live. Without a fleet only the one that serves this page. */
export class HostList {
  readonly all = signal<readonly Host[]>([])
  /** Why the last read failed; what was read before it is still there. */
  readonly problem = signal('')
  /** Whether there is a host to choose. */
  readonly isFleet = computed(() => this.all.value.length > 1)
  /** The host that serves this page. */
  readonly self = computed(() => this.all.value.find(({ self }) => self === true))
  readonly #ask: () => Promise<readonly Host[]>
  #watchers = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOpen = false
  #isReading = false
  /** How long the last read took. */
  #tookMs = 0
  #readAgain = false

  constructor(ask: () => Promise<readonly Host[]>) {
    this.#ask = ask
    // A tab that is not looked at asks for nothing.
    document.addEventListener('visibilitychange', () => void (this.#isOpen && !document.hidden && this.read()))
  }

  /** Reads now, and from time to time until it is closed. A call during a read causes one more. */
  async read(): Promise<void> {
    this.#isOpen = true
    this.#readAgain = true
    if (this.#isReading) return
    this.#isReading = true
    while (this.#readAgain) {
      this.#readAgain = false
      await this.#readOnce()
    }
    this.#isReading = false
    this.#plan()
  }

  /** Forgets all: the login is over. */
  close(): void {
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.all.value = []
    this.problem.value = ''
  }

  /** Reads often, until the returned function is called. */
  watch(): () => void {
    this.#watchers++
    if (this.#isOpen) void this.read()
    return () => void this.#watchers--
  }

  async #readOnce(): Promise<void> {
    const done = new AbortController()
    const beganAt = performance.now()
    try {
      const late = pause(ANSWER_MS, AbortSignal.any([networkChange(), done.signal])).then(() => undefined)
      const hosts = await Promise.race([this.#ask(), late])
      if (hosts === undefined || !this.#isOpen) return
      this.all.value = hosts
      this.problem.value = ''
    } catch (thrown) {
      if (this.#isOpen) this.problem.value = messageOf(thrown)
    } finally {
      done.abort()
      this.#tookMs = performance.now() - beganAt
    }
  }

  #plan(): void {
    clearTimeout(this.#timer)
    if (!this.#isOpen) return
    const shownMs = Math.min(OTHERWISE_MS, Math.max(SHOWN_MS, this.#tookMs * TIMES_ITS_DURATION))
    this.#timer = setTimeout(
      () => (document.hidden ? this.#plan() : void this.read()),
      this.#watchers > 0 ? shownMs : OTHERWISE_MS,
    )
  }
}
