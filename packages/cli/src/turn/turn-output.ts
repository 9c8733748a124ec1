import type { SessionEvent, TokenUsage, TurnEndReason } from '@agentproto/contracts'
import { paintOf, print, type Io } from '../io.js'
import type { Paint } from '../render/paint.js'
import { printable } from '../render/printable.js'
import { Transcript } from '../render/transcript.js'

export type OutputMode = 'text' | 'json' | 'jsonl' | 'quiet'

/** What a turn that was followed to its end came to; the shape that `--json` prints. */
export interface TurnOutcome {
  readonly sessionId: string
  readonly adapter: string
  readonly cwd: string
  readonly turn: number
  /** `session-ended` when the agent went away without a word. */
  readonly reason: TurnEndReason | 'session-ended'
  readonly empty: boolean
  readonly text: string
  /** Permission requests that were refused, whoever refused them. */
  readonly refused: number
  readonly error?: string
  readonly usage?: TokenUsage
  readonly durationMs: number
}

/** Where the events of a turn go: stdout gets the answer in the mode that was asked for, stderr the rest. */
export interface TurnOutput {
  event(event: SessionEvent): void
  end(outcome: TurnOutcome): void
}

export function turnOutput(io: Io, mode: OutputMode): TurnOutput {
  switch (mode) {
    case 'text':
      return textOutput(io)
    case 'jsonl':
      return { event: (event) => print(io.stdout, JSON.stringify(event)), end: () => undefined }
    case 'json':
      return { event: () => undefined, end: (outcome) => print(io.stdout, JSON.stringify(outcome, undefined, 2)) }
    case 'quiet':
      return {
        event: () => undefined,
        end: ({ text }) => void (text !== '' && print(io.stdout, text.replace(/\n$/, ''))),
      }
  }
}

/** Text as it comes; what else happens is told on stderr. A pipe gets the agent's very bytes. */
function textOutput(io: Io): TurnOutput {
  const paint: Paint = paintOf(io, io.stderr)
  const asides = new Transcript({ paint, width: () => io.stderr.columns ?? 100, requestsWhenAnswered: true })
  const shown = io.stdout.isTTY === true ? printable : (text: string) => text
  let atLineStart = true
  const freshLine = (): void => {
    if (!atLineStart) io.stdout.write('\n')
    atLineStart = true
  }
  return {
    event(event) {
      if (event.type === 'text-delta') {
        io.stdout.write(shown(event.text))
        if (event.text !== '') atLineStart = event.text.endsWith('\n')
        return
      }
      if (SILENT.has(event.type)) return
      const rows = event.type === 'error' ? tailOf(event.stderrTail, paint) : asides.take(event)
      if (rows.length === 0) return
      // On one terminal both streams share a line; in a pipe the answer must not get line breaks of ours.
      if (io.stdout.isTTY === true) freshLine()
      print(io.stderr, rows)
    },
    end: freshLine,
  }
}

/** An error is told once, at the end; what the agent itself printed belongs to it. */
const tailOf = (tail: string | undefined, paint: Paint): string[] =>
  tail === undefined
    ? []
    : printable(tail)
        .trimEnd()
        .split('\n')
        .map((line) => paint.dim(`│ ${line}`))

/** Known to whoever asked, or no news on a terminal. */
const SILENT = new Set<SessionEvent['type']>(['user-prompt', 'turn-end', 'thought', 'session-stopped'])
