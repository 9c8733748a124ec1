import type { EarlierHost } from '@agentproto/arm-kit'
import { asRecord, asString, type Json } from '@agentproto/contracts'
import type { StreamLines } from '@agentproto/contracts/agent'

/** Requests whose answer has the id of a new session. */
const OPENINGS: ReadonlySet<string> = new Set(['session/new', 'session/fork'])

/** What an earlier host left of a connection, while its output is read again and afterwards. */
export class EarlierConnection {
  readonly #host: EarlierHost
  readonly #isOld: (id: number) => boolean
  /** Its requests that were answered since. */
  readonly #answered = new Set<number>()
  /** Its requests for new sessions. */
  readonly #openings: Set<unknown>
  /** How many lines each session has handled before, while the output is read again from an earlier place. */
  readonly #lines = new Map<string, StreamLines>()

  /** @param isOld whether that host may have used an id for a request of its own */
  constructor(host: EarlierHost, isOld: (id: number) => boolean) {
    this.#host = host
    this.#isOld = isOld
    this.#openings = new Set(host.requests.flatMap(({ id, method }) => (OPENINGS.has(method) ? [id] : [])))
  }

  /** Sessions that it was opening. */
  get openings(): number {
    return this.#openings.size
  }

  /** The answer that it gave to a request of the agent; each is returned once. */
  takeAnswer(id: unknown): Json | undefined {
    return this.#host.takeAnswer(id)
  }

  /** Whether this is the first answer to a request of it, whose caller may be gone. */
  isAnswered(id: unknown): boolean {
    if (typeof id !== 'number' || !this.#isOld(id) || this.#answered.has(id)) return false
    this.#answered.add(id)
    return true
  }

  /** Whether this answers its request for a new session; that session has the id, if any. */
  opened({ id, result }: Json): { readonly sessionId: string | undefined } | undefined {
    return this.#openings.delete(id) ? { sessionId: asString(asRecord(result)['sessionId']) } : undefined
  }

  /** A session has handled so many lines. */
  begin(sessionId: string, lines: StreamLines): void {
    this.#lines.set(sessionId, lines)
  }

  /** How many lines of a stream a session has handled before. */
  handled(sessionId: string, stream: 'stdout' | 'stderr'): number {
    return this.#lines.get(sessionId)?.[stream] ?? 0
  }

  /** Everything was read again. */
  caughtUp(): void {
    this.#lines.clear()
  }
}
