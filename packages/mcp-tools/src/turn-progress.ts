import type { Clock } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'

/** Minimum milliseconds between two messages: a person reads them. */
const SPACING_MS = 1_000
/** Milliseconds of silence after which a message is sent: some clients cancel a silent call. */
const HEARTBEAT_MS = 10_000

/** Reports the progress of a turn to a caller that waits for it. */
export class TurnProgress {
  readonly #clock: Clock
  readonly #report: (message: string) => void
  readonly #signal: AbortSignal
  #reportedAt: number
  #events = 0

  constructor(clock: Clock, report: (message: string) => void, signal: AbortSignal) {
    this.#clock = clock
    this.#report = report
    this.#signal = signal
    this.#reportedAt = clock.now() - SPACING_MS
    this.#beat()
  }

  add(records: readonly EventRecord[]): void {
    this.#events += records.length
    if (this.#clock.now() - this.#reportedAt < SPACING_MS) return
    const last = records.findLast(({ type }) => type in ACTIVITY)
    if (last !== undefined) this.#send(`${activityOf(last)} (${this.#events} events)`)
  }

  #beat(): void {
    const timer = this.#clock.after(HEARTBEAT_MS, () => {
      if (this.#signal.aborted) return
      if (this.#clock.now() - this.#reportedAt >= HEARTBEAT_MS) this.#send(`waiting (${this.#events} events)`)
      this.#beat()
    })
    this.#signal.addEventListener('abort', () => timer.cancel(), { once: true })
  }

  #send(message: string): void {
    this.#reportedAt = this.#clock.now()
    this.#report(message)
  }
}

const ACTIVITY: Readonly<Partial<Record<EventRecord['type'], string>>> = {
  'text-delta': 'writing',
  thought: 'thinking',
  'tool-call': 'tool',
  'tool-result': 'tool',
  'agent-prompt': 'asking',
}

/** Parsed only for a message, at most once a second. */
function activityOf({ type, json }: EventRecord): string {
  const { title, toolName } = JSON.parse(json) as { title?: unknown; toolName?: unknown }
  const name = typeof title === 'string' ? title : toolName
  return type.startsWith('tool') && typeof name === 'string' ? `tool: ${name.slice(0, 200)}` : (ACTIVITY[type] ?? type)
}
