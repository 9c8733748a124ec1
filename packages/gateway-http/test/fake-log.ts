import type { OutputItem, StatusChange } from '@agentproto/contracts'
import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import type { EventReader, OutputReader } from '@agentproto/contracts/wire'

export type Payload = { readonly type: EventRecord['type']; readonly turn?: number } & Readonly<Record<string, unknown>>

/** The log of one fake session: records in memory, readers that pull. */
export class FakeLog {
  readonly records: EventRecord[] = []
  /** Readers that were opened and not yet closed. */
  open = 0
  ended = false
  /** The first sequence number that is still served. */
  first = 1
  readonly #sessionId: string
  #waiting: (() => void)[] = []

  constructor(sessionId: string) {
    this.#sessionId = sessionId
  }

  get lastSeq(): number {
    return this.records.length
  }

  append(...payloads: readonly Payload[]): void {
    for (const payload of payloads) {
      const seq = this.records.length + 1
      const json = JSON.stringify({ seq, ts: '2026-11-21T00:00:00.000Z', sessionId: this.#sessionId, ...payload })
      this.records.push({ seq, type: payload.type, json })
    }
    this.#wake()
  }

  end(): void {
    this.ended = true
    this.#wake()
  }

  read(after: number, limit: number): EventBatch {
    const gap = after + 1 < this.first ? { gap: { after, first: this.first } } : {}
    const start = Math.max(after, this.first - 1)
    return { records: this.records.slice(start, start + limit), ...gap }
  }

  reader(after: number, limit = 100): EventReader {
    let cursor = after
    this.open++
    return {
      next: async (signal) => {
        await this.#until(() => cursor < this.lastSeq || this.ended, signal)
        if (cursor >= this.lastSeq) return undefined
        const batch = this.read(cursor, limit)
        cursor = batch.records.at(-1)?.seq ?? cursor
        return batch
      },
      close: () => void this.open--,
    }
  }

  /** The projection: texts as lines, statuses as they are. */
  outputReader(cursor = '0.0'): OutputReader {
    const reader = this.reader(Number(cursor.split('.')[0]))
    return {
      next: async (signal) => (await reader.next(signal))?.records.flatMap(project),
      close: () => reader.close(),
    }
  }

  async #until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
    if (condition() || signal?.aborted) return
    await new Promise<void>((wake) => {
      this.#waiting.push(wake)
      signal?.addEventListener('abort', () => wake(), { once: true })
    })
    await this.#until(condition, signal)
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

export function project({ seq, json }: EventRecord): readonly OutputItem[] {
  const event = JSON.parse(json) as Payload & { text?: string }
  if (event.type === 'status') return [{ cursor: `${seq}.1`, type: 'status', status: event as unknown as StatusChange }]
  if (event.type !== 'text-delta') return []
  return [{ cursor: `${seq}.1`, type: 'line', line: { line: event.text ?? '', stream: 'stdout' } }]
}
