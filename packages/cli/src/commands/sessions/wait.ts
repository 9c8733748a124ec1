import type { Client } from '@agentproto/client'
import { AgentprotoError, isAgentprotoError, type Session, type Turn } from '@agentproto/contracts'
import type { Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { type JsonOption, type OutputMode, outputOption, toCount, toSeconds } from '../../command-definition.js'
import { openSession } from '../../session-ref.js'
import { interruptible } from '../../signals.js'
import { followTurn } from '../../turn/follow-turn.js'
import { watchingAnswerer } from '../../turn/request-answerer.js'
import { turnFailure } from '../../turn/turn-exit.js'
import { turnOutput } from '../../turn/turn-output.js'

interface WaitOptions extends JsonOption {
  readonly turn?: number
  readonly output: OutputMode
  readonly timeout?: number
}

export const define: Define = (command) =>
  command
    .description('wait for the end of a turn, and print the answer')
    .argument('<id>')
    .option('--turn <number>', 'number of the turn (default: the last one)', toCount)
    .addOption(outputOption())
    .json('the same as --output json')
    .option('--timeout <seconds>', 'stop waiting after this time and exit with 3; the turn continues', toSeconds)
    .examples('sessions wait try', 'sessions wait try --turn 2 --json', 'sessions wait try --timeout 60')
    .run(waitForTurn)

/** Prints a turn from its beginning, even if it has ended. To stop waiting does not stop the turn. */
async function waitForTurn(context: CliContext, ref: string, options: WaitOptions): Promise<number | void> {
  const { client, session } = await openSession(context, ref)
  const turn = await turnOf(client, session, options.turn)
  const output = options.json === true ? 'json' : options.output
  const outcome = await withTimeout(options.timeout, session.id, (signal) =>
    followTurn({
      client,
      session,
      turn: turn.number,
      after: turn.firstSeq - 1,
      output: turnOutput(context, output),
      answer: watchingAnswerer(context, `agentproto sessions show ${session.id}`),
      signal,
    }),
  )
  if (typeof outcome === 'number') return outcome
  const failure = turnFailure(
    outcome,
    `agentproto sessions events ${session.id}`,
    `agentproto sessions config ${session.id} --permissions approve-reads`,
  )
  if (failure !== undefined) throw failure
}

/** The turn of a number, else the last one. A list has at most the first thousand. */
async function turnOf({ sessions }: Client, { id, turnCount }: Session, number?: number): Promise<Turn> {
  const asked = number ?? turnCount
  const [found] = asked === 0 ? [] : await sessions.turns(id, { after: asked - 1, limit: 1 })
  if (found !== undefined) return found
  if (number === undefined || turnCount === 0)
    throw new AgentprotoError('turn_not_found', 'The session has no turn yet', {
      hint: `Send a prompt with: agentproto sessions prompt ${id} "…"`,
    })
  throw new AgentprotoError('turn_not_found', `The session has no turn ${number}`, {
    hint: `Wait for its last one with: agentproto sessions wait ${id} --turn ${turnCount}`,
  })
}

/** @returns the work's result, or an exit code when the user stopped waiting. @throws `timeout` */
async function withTimeout<T>(
  seconds: number | undefined,
  id: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | number> {
  const limit = seconds === undefined ? undefined : AbortSignal.timeout(seconds * 1_000)
  try {
    return await interruptible((signal) => work(limit === undefined ? signal : AbortSignal.any([signal, limit])))
  } catch (thrown) {
    if (limit?.aborted !== true || !isAgentprotoError(thrown) || thrown.code !== 'cancelled') throw thrown
    throw new AgentprotoError('timeout', `The turn did not end within ${seconds} s; it continues`, {
      hint: `Wait again, or interrupt it with: agentproto sessions interrupt ${id}`,
    })
  }
}
