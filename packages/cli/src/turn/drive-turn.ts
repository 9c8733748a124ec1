import { isAgentprotoError, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { tellFailure } from '../failure.js'
import type { Io } from '../io.js'
import type { OutputMode } from '../program/run-command.js'
import { answererFor } from './answerer.js'
import { followTurn } from './follow-turn.js'
import { turnLimits } from './turn-clock.js'
import { turnFailure } from './turn-exit.js'
import { turnOutput } from './turn-output.js'

export interface DriveOptions {
  readonly client: Client
  readonly session: Session
  readonly prompt: string
  readonly output: OutputMode
  readonly timeoutSeconds: number | undefined
}

/** Sends one prompt and follows its turn to the end. @returns the exit code that the turn deserves */
export async function driveTurn(io: Io, { client, session, prompt, output, timeoutSeconds }: DriveOptions): Promise<number> {
  const asJson = output === 'json' || output === 'jsonl'
  const { turn } = await client.sessions.prompt(session.id, { prompt })
  const interrupt = (): void => void client.sessions.interrupt(session.id).catch(() => undefined)
  const limits = turnLimits({ timeoutSeconds, interrupt })
  try {
    const outcome = await followTurn({
      client,
      session,
      turn,
      after: session.lastSeq,
      output: turnOutput(io, output),
      answer: answererFor(io),
      signal: limits.signal,
    })
    const failure = limits.stoppedBy() ?? turnFailure(outcome)
    return failure === undefined ? 0 : tellFailure(io, failure, asJson)
  } catch (thrown) {
    const stopped = limits.stoppedBy()
    if (stopped !== undefined && isAgentprotoError(thrown) && thrown.code === 'cancelled') return tellFailure(io, stopped, asJson)
    throw thrown
  } finally {
    limits.release()
  }
}
