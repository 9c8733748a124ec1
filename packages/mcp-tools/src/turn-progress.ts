import type { Clock, EventRecord } from '@agentproto/contracts'

/** Between two words on what goes on, in milliseconds: a client shows them, and reads no faster. */
const SPACING_MS = 1_000
/** Silence after which a client is told that the wait goes on: some give up a call that says nothing. */
const HEARTBEAT_MS = 10_000

/** Tells who waits for a turn what goes on in it. */
export class TurnProgress {
  readonly #clock: Clock
  readonly #tell: (message: string) => void
  readonly #signal: AbortSignal
  #toldAt: number
  #events = 0

  constructor(clock: Clock, tell: (message: string) => void, signal: AbortSignal) {
    this.#clock = clock
    this.#tell = tell
    this.#signal = signal
    this.#toldAt = clock.now() - SPACING_MS
    this.#beat()
  }

  take(records: readonly EventRecord[]): void {
    this.#events += records.length
    if (this.#clock.now() - this.#toldAt < SPACING_MS) return
    const last = records.findLast(({ type }) => type in DOING)
    if (last !== undefined) this.#say(`${doing(last)} (${this.#events} events)`)
  }

  #beat(): void {
    const timer = this.#clock.after(HEARTBEAT_MS, () => {
      if (this.#signal.aborted) return
      if (this.#clock.now() - this.#toldAt >= HEARTBEAT_MS) this.#say(`waiting (${this.#events} events)`)
      this.#beat()
    })
    this.#signal.addEventListener('abort', () => timer.cancel(), { once: true })
  }

  #say(message: string): void {
    this.#toldAt = this.#clock.now()
    this.#tell(message)
  }
}

const DOING: Readonly<Partial<Record<EventRecord['type'], string>>> = {
  'text-delta': 'writing',
  thought: 'thinking',
  'tool-call': 'tool',
  'tool-result': 'tool',
  'agent-prompt': 'asking',
}

/** Parsed only when it is told, at most once a second. */
function doing({ type, json }: EventRecord): string {
  const { title, toolName } = JSON.parse(json) as { title?: unknown; toolName?: unknown }
  const name = typeof title === 'string' ? title : toolName
  return type.startsWith('tool') && typeof name === 'string' ? `tool: ${name.slice(0, 200)}` : (DOING[type] ?? type)
}
