import type { SessionEvent, TurnEndReason, TurnResult } from '@agentproto/contracts'
import { paintFor, pass, print, type CliContext } from '../cli-context.js'
import type { OutputMode } from '../command-definition.js'
import type { Paint } from '../render/paint.js'
import { printable } from '../render/printable.js'
import { Transcript } from '../render/transcript.js'

/** The result of a finished turn, as `--json` prints it. */
export interface TurnOutcome extends Pick<TurnResult, 'text' | 'error' | 'usage'> {
  readonly sessionId: string
  readonly adapter: string
  readonly cwd: string
  readonly turn: number
  /** `session-ended` when the agent exited without ending the turn. */
  readonly reason: TurnEndReason | 'session-ended'
  readonly empty: boolean
  /** Number of refused permission requests. */
  readonly refused: number
  readonly durationMs: number
}

/** Prints the events of a turn: the answer on stdout in the chosen mode, the rest on stderr. */
export interface TurnOutput {
  event(event: SessionEvent): void
  end(outcome: TurnOutcome): unknown
}

export function turnOutput(context: CliContext, mode: OutputMode): TurnOutput {
  switch (mode) {
    case 'text':
      return textOutput(context)
    case 'jsonl':
      return { event: (event) => print(context.stdout, JSON.stringify(event)), end: () => undefined }
    case 'json':
      return { event: () => undefined, end: (outcome) => print(context.stdout, JSON.stringify(outcome, undefined, 2)) }
    case 'quiet':
      return {
        event: () => undefined,
        end: ({ text }) => text === '' || pass(context.stdout, text.replace(/\n?$/, '\n')),
      }
  }
}

/** Text while it is written; other events go to stderr. A pipe gets the bytes of the agent unchanged. */
function textOutput(context: CliContext): TurnOutput {
  const paint = paintFor(context, context.stderr)
  const asides = new Transcript({ paint, width: () => context.stderr.columns ?? 100, requestsWhenAnswered: true })
  let atLineStart = true
  const freshLine = (): void => {
    if (!atLineStart) pass(context.stdout, '\n')
    atLineStart = true
  }
  return {
    event(event) {
      if (event.type === 'text-delta') {
        pass(context.stdout, event.text)
        if (event.text !== '') atLineStart = event.text.endsWith('\n')
        return
      }
      if (SILENT.has(event.type)) return
      const rows = event.type === 'error' ? tailOf(event.stderrTail, paint) : asides.apply(event)
      if (rows.length === 0) return
      // On a terminal both streams share a line. In a pipe the answer must not get additional line breaks.
      if (context.stdout.isTTY === true) freshLine()
      print(context.stderr, rows)
    },
    end: freshLine,
  }
}

/** An error is reported once, at the end of the turn; here comes what the agent wrote to stderr. */
const tailOf = (tail: string | undefined, paint: Paint): string[] =>
  tail === undefined
    ? []
    : printable(tail)
        .trimEnd()
        .split('\n')
        .map((line) => paint.dim(`│ ${line}`))

/** Events that the user knows already or does not need. */
const SILENT = new Set<SessionEvent['type']>(['user-prompt', 'turn-end', 'thought', 'session-stopped'])
