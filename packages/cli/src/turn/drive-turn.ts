import { defined, isAgentprotoError, type Session } from '@agentproto/contracts'
import type { PromptRequest } from '@agentproto/contracts/wire'
import type { Client } from '@agentproto/client'
import { print, type CliContext } from '../cli-context.js'
import type { OutputMode, WhenBusy } from '../command-definition.js'
import { type Answerer, followTurn } from './follow-turn.js'
import { answererFor } from './request-answerer.js'
import { turnFailure } from './turn-exit.js'
import type { TurnLimits } from './turn-limits.js'
import { turnOutput } from './turn-output.js'

interface DriveOptions {
  readonly client: Client
  readonly session: Session
  readonly prompt: PromptRequest['prompt']
  readonly whenBusy?: WhenBusy | undefined
  readonly output: OutputMode
  readonly limits: TurnLimits
  /** The command that shows more of a failed turn. */
  readonly detailsCommand: string
  readonly allowCommand?: string
  /** Default: a person at a terminal, else every request is denied. */
  readonly answer?: Answerer
}

/** Sends one prompt and follows its turn to the end. @throws what a failed turn means for the command */
export async function driveTurn(context: CliContext, options: DriveOptions): Promise<void> {
  const { client, session, prompt, whenBusy, output, limits, detailsCommand, allowCommand } = options
  const { turn } = await limits.race(() => client.sessions.prompt(session.id, { prompt, ...defined({ whenBusy }) }))
  async function cancel(): Promise<void> {
    // Only this turn: the one before it may be another client's. A queued prompt was not sent, and its end is logged only
    // when its place in the queue comes, which is not worth waiting for.
    const { sent } = await client.sessions.interrupt(session.id, { turn })
    if (sent === false) limits.stopWaiting()
  }
  limits.interruptWith(() => {
    if (context.stderr.isTTY === true) print(context.stderr, 'Interrupting; Ctrl-C again exits without waiting.')
    void cancel().catch(() => undefined)
  })
  try {
    const outcome = await followTurn({
      client,
      session,
      turn,
      after: session.lastSeq,
      output: turnOutput(context, output),
      answer: options.answer ?? answererFor(context),
      signal: limits.signal,
    })
    const failure = limits.stoppedBy ?? turnFailure(outcome, detailsCommand, allowCommand)
    if (failure !== undefined) throw failure
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code === 'cancelled') throw limits.stoppedBy ?? thrown
    throw thrown
  }
}
