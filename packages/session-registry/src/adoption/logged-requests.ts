import { createHash } from 'node:crypto'
import { type AgentRequest, isRecord } from '@agentproto/contracts'
import { number } from '../log/event-record.js'
import { NO_STAMP } from './logged-signal.js'

/** A request of the log, without what it asks: one turn may have more of that than there is memory for. */
export interface LoggedRequest {
  readonly requestId: string
  /** {@link requestDigest} */
  readonly digest: string
}

/** The requests that the log has since the mark, in order. An agent that asks again is known by what it asks. */
export class LoggedRequests {
  readonly #waiting: LoggedRequest[]

  constructor(logged: readonly LoggedRequest[]) {
    this.#waiting = [...logged]
  }

  /** The id of the request that is asked again, or that was answered; undefined for one that the log does not have. */
  take(asked: string): string | undefined {
    const at = this.#waiting.findIndex(({ digest }) => digest === asked)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]?.requestId
  }
}

/** The same for requests that ask the same, as the log would have them: redacted, and cut if they are too long. */
export function requestDigest(request: AgentRequest, redact?: (text: string) => string): string {
  const { event } = number({ type: 'agent-prompt', requestId: '', request }, NO_STAMP, redact)
  const logged = event.type === 'agent-prompt' ? event.request : request
  return createHash('sha256').update(JSON.stringify(logged, inOrder)).digest('base64')
}

/** The order of members says nothing. */
const inOrder = (_: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value
