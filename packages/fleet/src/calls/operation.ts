import { AgentprotoError, type Clock, ERRORS, fromProblem, parseJson } from '@agentproto/contracts'
import { type AnswerFrame, type Ask, MAX_RESULT_BYTES, type Outcome, parseOutcome } from './call-frame.js'
import { type Exchange, type Exchanged, unreachable } from './exchange.js'

/** A host that does not answer for this long is not waited for, in milliseconds. */
const SILENT_MS = 15_000
/** A host that nothing listens for is asked again for this long, in milliseconds: it may be connecting again, to another server. */
const ABSENT_FOR_MS = 8_000

/** What is asked of a host until its outcome is here. */
export interface Operation {
  readonly host: string
  readonly id: string
  /** The read of a reader; 0 for a call. */
  readonly seq: number
  readonly first: Ask
  readonly body: Uint8Array
  /** What is asked once it has begun. */
  readonly again: Ask
  readonly signal?: AbortSignal | undefined
}

export interface Line {
  readonly exchange: Exchange
  readonly clock: Pick<Clock, 'now'>
}

/** A host no longer knows of an operation, so that it may have run or not. */
export class Lost extends Error {}

/**
 * Asks until the operation has an outcome, through lost messages and interrupted connections; it runs at most once.
 * @throws {@link Lost}, `host_unreachable`, and what was thrown at the host
 */
export async function outcomeOf(line: Line, operation: Operation): Promise<Outcome> {
  const { frame, body } = await answerTo(line, operation)
  const bytes = frame.state === 'done' ? await wholeOf(line, operation, { frame, body }) : body
  return outcomeIn(bytes, operation.host)
}

/** @throws what was thrown at the host */
export function outcomeIn(bytes: Uint8Array, host: string): Outcome {
  const outcome = parseOutcome(parseJson(Buffer.from(bytes).toString('utf8')))
  if (outcome === undefined) throw invalidAnswer(host)
  if ('problem' in outcome) throw fromProblem(outcome.problem)
  return outcome
}

/** An answer of another host that is not what it should be. */
export const invalidAnswer = (host: string): AgentprotoError =>
  new AgentprotoError('internal', 'Another host answered with something unexpected', {
    given: host,
    hint: 'Run the same version of agentproto on all hosts',
  })

type Answered = Exclude<Exchanged, { readonly none: unknown }>

/** The first answer that ends the operation. */
export async function answerTo({ exchange, clock }: Line, operation: Operation): Promise<Answered> {
  const { host, first, again, body, signal } = operation
  const attempt = new Attempt(host, clock)
  for (let begun = false; ;) {
    if (!begun && signal?.aborted === true) throw cancelled()
    const run = exchange.runOf(host)
    const sentAt = clock.now()
    const exchanged = begun ? await exchange.ask(host, again) : await exchange.ask(host, first, body)
    if ('none' in exchanged) {
      attempt.missed(exchanged, { run, sentAt })
      if (exchanged.none === 'absent') await exchange.pause()
      continue
    }
    switch (exchanged.frame.state) {
      case 'done':
      case 'taken':
      case 'part':
        return exchanged
      case 'pending':
        attempt.heard(run)
        begun = true
        continue
      case 'other_run':
        // Of the run that it was sent to nothing was heard, and this run did nothing: it is sent to this one.
        if (attempt.mayHaveRun(run) || begun) throw new Lost()
        continue
      case 'unknown':
        throw new Lost()
      case 'refused':
        throw refused(host, exchanged.frame, clock.now())
    }
  }
}

/** How long a host has been silent, and whether an earlier run of it may have begun. */
class Attempt {
  readonly #host: string
  readonly #clock: Pick<Clock, 'now'>
  #silentSince: number | undefined
  #absentSince: number | undefined
  /** Runs to which it was sent without an answer. */
  readonly #unanswered = new Set<string>()

  constructor(host: string, clock: Pick<Clock, 'now'>) {
    this.#host = host
    this.#clock = clock
  }

  heard(run: string): void {
    this.#silentSince = undefined
    this.#absentSince = undefined
    this.#unanswered.delete(run)
  }

  mayHaveRun(run: string): boolean {
    return run !== '' && this.#unanswered.has(run)
  }

  /** @param sentAt When the message was sent that had no answer */
  missed({ none }: Missed, { run, sentAt }: { readonly run: string; readonly sentAt: number }): void {
    const host = this.#host
    if (none === 'closed') throw unreachable(host, 'The connection to the fleet is closed')
    if (none === 'gone') throw unreachable(host, 'The host is not heard from')
    if (none === 'forged') throw otherKey(host)
    this.#silentSince ??= sentAt
    this.#absentSince = none === 'absent' ? (this.#absentSince ?? sentAt) : undefined
    // What nothing listened for was not begun.
    if (none !== 'absent') this.#unanswered.add(run)
    const now = this.#clock.now()
    const isSilent = now - this.#silentSince >= SILENT_MS
    const isAbsent = this.#absentSince !== undefined && now - this.#absentSince >= ABSENT_FOR_MS
    if (!isSilent && !isAbsent) return
    throw unreachable(host, 'The host does not answer')
  }
}

type Missed = Extract<Exchanged, { readonly none: unknown }>

const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', ERRORS.cancelled.title)

const otherKey = (host: string): AgentprotoError =>
  unreachable(host, 'The answers of the host do not have the signature of the fleet', {
    expected: 'the same fleet key on all hosts',
    hint: `Copy the fleet key of another host to ${host}, and start it again`,
    data: { reason: 'other_key' },
  })

/** Why a host refused a message that this host signed. It is nothing that the caller of this host did wrong. */
function refused(
  host: string,
  frame: Extract<AnswerFrame, { readonly state: 'refused' }>,
  now: number,
): AgentprotoError {
  const { reason } = frame
  if (reason === 'expired' || reason === 'clock') {
    const seconds = Math.round((frame.now - now) / 1_000)
    return unreachable(host, 'The clocks of the hosts differ too much', {
      expected: 'at most 30 s',
      given: `the clock of ${host} is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead'}`,
      hint: 'Set both clocks by NTP',
      data: { reason, clockDifferenceMs: frame.now - now },
    })
  }
  if (reason === 'too_many_hosts')
    return new AgentprotoError('request_limit_reached', 'The host answers too many other hosts', {
      given: host,
      data: { host, reason },
    })
  return unreachable(host, `The host refused the call: ${REASON_TEXT[reason]}`, { data: { reason } })
}

const REASON_TEXT = {
  forged: 'its signature is not of the fleet',
  wrong_host: 'it is for another host',
  replayed: 'it was received before',
  malformed: 'it has an unknown form',
} as const

/** A result that is larger than one message is asked for in parts. */
async function wholeOf(line: Line, operation: Operation, { frame, body }: Answered): Promise<Uint8Array> {
  if (frame.state !== 'done' || frame.parts === 1) return body
  const { host, id, seq } = operation
  if (frame.bytes > MAX_RESULT_BYTES) throw invalidAnswer(host)
  const parts = [body]
  let length = body.length
  for (let at = 1; at < frame.parts && length < frame.bytes; at++) {
    const ask: Ask = { kind: 'part', id, seq, at }
    const part = await answerTo(line, { ...operation, first: ask, again: ask, body: NOTHING })
    parts.push(part.body)
    length += part.body.length
  }
  if (length !== frame.bytes) throw invalidAnswer(host)
  return Buffer.concat(parts)
}

const NOTHING = new Uint8Array()
