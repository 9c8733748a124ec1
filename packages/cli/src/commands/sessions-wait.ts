import { AgentprotoError, isAgentprotoError, type Turn } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { tellFailure } from '../failure.js'
import type { Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { findSession } from '../session-ref.js'
import { interruptible } from '../signals.js'
import { watchingAnswerer } from '../turn/answerer.js'
import { followTurn } from '../turn/follow-turn.js'
import { turnFailure } from '../turn/turn-exit.js'
import type { OutputMode } from '../turn/turn-output.js'
import { turnOutput } from '../turn/turn-output.js'

export interface WaitOptions extends JsonOption {
  readonly turn?: number
  readonly output: OutputMode
  readonly timeout?: number
}

/**
 * `agentproto sessions wait`: the last turn, or the one that is named, from its beginning to its end, which may be in
 * the past. Whoever stops waiting leaves the turn alone.
 * @returns the exit code that the turn deserves
 */
export async function waitForTurn(io: Io, ref: string, options: WaitOptions): Promise<number> {
  const client = await connect(io)
  const session = await findSession(client, ref)
  const turn = pick(await client.sessions.turns(session.id), options.turn)
  const output = options.json === true ? 'json' : options.output
  const outcome = await within(options.timeout, (signal) =>
    followTurn({
      client,
      session,
      turn: turn.number,
      after: turn.firstSeq - 1,
      output: turnOutput(io, output),
      answer: watchingAnswerer(io, `agentproto sessions show ${session.id}`),
      signal,
    }),
  )
  if (outcome === undefined) return 130
  const failure = turnFailure(outcome, `agentproto sessions events ${session.id}`)
  return failure === undefined ? 0 : tellFailure(io, failure, output.startsWith('json'))
}

function pick(turns: readonly Turn[], number: number | undefined): Turn {
  const found = number === undefined ? turns.at(-1) : turns.find((turn) => turn.number === number)
  if (found !== undefined) return found
  throw new AgentprotoError(
    'turn_not_found',
    number === undefined ? 'The session has had no turn yet' : `The session has no turn ${number}`,
    { hint: 'Give it something to do with: agentproto sessions prompt <id> "…"' },
  )
}

/** @returns undefined when a person stopped waiting. @throws `timeout` */
async function within<T>(
  seconds: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const limit = seconds === undefined ? undefined : AbortSignal.timeout(seconds * 1_000)
  let result: T | undefined
  try {
    await interruptible(async (signal) => {
      result = await work(limit === undefined ? signal : AbortSignal.any([signal, limit]))
      return 0
    })
    return result
  } catch (thrown) {
    if (limit?.aborted !== true || !isAgentprotoError(thrown) || thrown.code !== 'cancelled') throw thrown
    throw new AgentprotoError('timeout', `The turn has not ended within ${seconds} s; it goes on`, {
      hint: 'Wait again, or stop it with: agentproto sessions interrupt <id>',
    })
  }
}
