import { isAgentprotoError, type PromptRequest, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { tellFailure } from '../failure.js'
import { print, type Io } from '../io.js'
import type { WhenBusy } from '../program/option-values.js'
import { answererFor } from './answerer.js'
import { followTurn } from './follow-turn.js'
import { turnFailure } from './turn-exit.js'
import type { TurnLimits } from './turn-limits.js'
import { turnOutput, type OutputMode } from './turn-output.js'

export interface DriveOptions {
  readonly client: Client
  readonly session: Session
  readonly prompt: PromptRequest['prompt']
  readonly whenBusy?: WhenBusy | undefined
  readonly output: OutputMode
  readonly limits: TurnLimits
  /** The command line that shows more of a turn that failed. */
  readonly seeMore: string
}

/** Sends one prompt and follows its turn to the end. @returns the exit code that the turn deserves */
export async function driveTurn(io: Io, options: DriveOptions): Promise<number> {
  const { client, session, prompt, whenBusy, output, limits, seeMore } = options
  const asJson = output === 'json' || output === 'jsonl'
  const { turn } = await limits.during(() =>
    client.sessions.prompt(session.id, { prompt, ...(whenBusy && { whenBusy }) }),
  )
  async function takeBack(): Promise<void> {
    // This turn alone: the one that runs before it may be somebody else's. The end of one that waited is logged when its
    // place in the queue has come, which is nothing to wait for.
    const { sent } = await client.sessions.interrupt(session.id, { turn })
    if (sent === false) limits.stopWaiting()
  }
  limits.interruptWith(() => {
    if (io.stderr.isTTY === true) print(io.stderr, 'Interrupting; Ctrl-C again stops waiting for it.')
    void takeBack().catch(() => undefined)
  })
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
    const failure = limits.stoppedBy ?? turnFailure(outcome, seeMore)
    return failure === undefined ? 0 : tellFailure(io, failure, asJson)
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code === 'cancelled') throw limits.stoppedBy ?? thrown
    throw thrown
  }
}
