import { AgentprotoError, FairShares } from '@agentproto/contracts'
import type { StreamStats } from '@agentproto/contracts/wire'
import type { HttpContext, HttpDeps } from '../http-deps.js'
import type { AnySource } from './sse-body.js'

/** The place of one stream. */
export interface StreamPlace {
  /** Aborts when the stream must end: another caller gets the place, its token ends, or the server closes. */
  readonly until: AbortSignal
  /** What it reads from, once that is open. */
  hold<S extends AnySource>(source: S): S
  /** Gives the place back. Called once, however the stream ends. */
  leave(): void
}

/** The places of the open streams of one app, which callers share. */
export class StreamPlaces {
  readonly #deps: Pick<HttpDeps, 'signal' | 'revoked'>
  readonly #max: number
  readonly #shares: FairShares
  readonly #sources = new Set<AnySource>()
  #open = 0
  #refused = 0

  constructor(deps: Pick<HttpDeps, 'signal' | 'revoked'>, max: number) {
    this.#deps = deps
    this.#max = max
    this.#shares = new FairShares(max)
  }

  /**
   * Takes a place, before the source is opened.
   * @throws `stream_limit_reached` beyond the limit or its caller's share, `shutting_down`
   */
  enter(c: HttpContext): StreamPlace {
    const { signal, revoked } = this.#deps
    if (signal?.aborted) throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
    const given = new AbortController()
    const release = this.#shares.take(c.get('by'), () => given.abort())
    if (release === undefined) throw this.#tooMany()
    this.#open++
    let held: AnySource | undefined
    return {
      until: endOf([given.signal, signal, revoked?.(c.get('by'))]),
      hold: (source) => {
        this.#sources.add((held = source))
        return source
      },
      leave: () => {
        this.#open--
        release()
        if (held !== undefined) this.#sources.delete(held)
      },
    }
  }

  stats(): StreamStats {
    let behind = 0
    for (const source of this.#sources) behind = Math.max(behind, source.behind?.() ?? 0)
    return { open: this.#open, refused: this.#refused, behind }
  }

  #tooMany(): AgentprotoError {
    this.#refused++
    return new AgentprotoError('stream_limit_reached', 'Too many streams are open', {
      expected: `at most ${this.#max}, of one caller ${this.#shares.each}`,
      hint: 'Close a stream that is not needed, then try again',
    })
  }
}

/** A signal that aborts with the first of several. */
const endOf = (signals: readonly (AbortSignal | undefined)[]): AbortSignal =>
  AbortSignal.any(signals.filter((each) => each !== undefined))
