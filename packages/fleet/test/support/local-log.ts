import type { EventBatch, EventRecord } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'

/** The log of one session on its host: what is appended is stored, and its readers are woken. */
export class LocalLog {
  readonly sessionId: string
  readonly records: EventRecord[] = []
  /** Numbers up to this one are lost. */
  lost = 0
  /** How many batches its readers have taken. */
  batchesRead = 0
  #isOver = false
  #wake = new Set<() => void>()

  constructor(sessionId: string) {
    this.sessionId = sessionId
  }

  get lastSeq(): number {
    return this.lost + this.records.length
  }

  /** Texts of events; each has its own number in it by default. */
  append(count: number, text = (seq: number): string => `text ${seq}`): void {
    for (let done = 0; done < count; done += 1)
      this.records.push(eventOf(this.sessionId, this.lastSeq + 1, text(this.lastSeq + 1)))
    this.#changed()
  }

  /** The oldest events are lost. */
  lose(count: number): void {
    this.records.splice(0, count)
    this.lost += count
  }

  /** The session has ended. */
  end(): void {
    this.#isOver = true
    this.#changed()
  }

  /** The session goes on. */
  resume(): void {
    this.#isOver = false
  }

  readonly follow = (after: number): Promise<EventReader> => Promise.resolve(this.reader(after))

  reader(after: number, limit = 1_024): EventReader {
    let cursor = after
    let closed = false
    const read = (): EventBatch | undefined => {
      if (cursor > this.lastSeq) {
        const gap = { after: cursor, first: this.lastSeq + 1 }
        cursor = this.lastSeq
        return { records: [], gap }
      }
      if (cursor === this.lastSeq) return undefined
      const gap = cursor < this.lost ? { after: cursor, first: this.lost + 1 } : undefined
      const from = Math.max(cursor, this.lost)
      const records = this.records.slice(from - this.lost, from - this.lost + limit)
      cursor = records.at(-1)?.seq ?? cursor
      return gap === undefined ? { records } : { records, gap }
    }
    const behind = (): number => Math.max(0, this.lastSeq - cursor)
    return {
      get behind() {
        return behind()
      },
      next: async (signal) => {
        while (!closed && signal?.aborted !== true) {
          const batch = read()
          this.batchesRead += batch === undefined ? 0 : 1
          if (batch !== undefined) return batch
          if (this.#isOver) return undefined
          await this.#change(signal)
        }
        return undefined
      },
      close: () => {
        closed = true
        this.#changed()
      },
    }
  }

  #changed(): void {
    const woken = this.#wake
    this.#wake = new Set()
    for (const wake of woken) wake()
  }

  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#wake.add(wake)
      signal?.addEventListener('abort', wake, { once: true })
    })
  }
}

const eventOf = (sessionId: string, seq: number, text: string): EventRecord => ({
  seq,
  type: 'text-delta',
  json: `{"seq":${seq},"ts":"2026-11-23T06:00:00.000Z","sessionId":"${sessionId}","turn":1,"type":"text-delta","text":${JSON.stringify(text)}}`,
})
