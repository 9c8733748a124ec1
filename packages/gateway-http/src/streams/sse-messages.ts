import type { OutputItem } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import type { EventReader, OutputReader, Reader, SessionWatcher } from '@agentproto/contracts/wire'
import type { SseSource } from './sse-body.js'

/** Characters after which a chunk is full: a large batch is sent in pieces of a size that suits a socket. */
const CHUNK_CHARS = 128 * 1024

/**
 * The log as messages: `id` is the sequence number, `event` the type, `data` the stored record.
 * @param isLast The record that ends the stream; by default it ends with the reader
 */
export function eventMessages(reader: EventReader, isLast: (record: EventRecord) => boolean = () => false): SseSource {
  let records: readonly EventRecord[] = []
  let at = 0
  let ended = false

  /** Reads the next batch. @returns its gap as text, which comes before its records */
  async function refill(signal: AbortSignal): Promise<string | undefined> {
    const batch = ended ? undefined : await reader.next(signal)
    if (batch === undefined) return undefined
    records = batch.records
    at = 0
    return batch.gap === undefined ? '' : gapMessage(batch.gap)
  }

  async function next(signal: AbortSignal): Promise<string | undefined> {
    let text = at < records.length ? '' : await refill(signal)
    if (text === undefined) return undefined
    while (at < records.length && text.length < CHUNK_CHARS) {
      const record = records[at++] as EventRecord
      text += `id: ${record.seq}\nevent: ${record.type}\ndata: ${record.json}\n\n`
      if (!isLast(record)) continue
      ended = true
      at = records.length
    }
    return text
  }

  return { next, close: () => reader.close(), behind: () => (reader.behind ?? 0) + records.length - at }
}

/** Its id resumes after the gap, so that it is sent once. */
const gapMessage = (gap: { readonly after: number; readonly first: number }): string =>
  `id: ${gap.first - 1}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`

/** The output as messages (AIP-46 §SSE event format): `line`, `status` and `gap`. */
export const outputMessages = (reader: OutputReader): SseSource =>
  itemMessages(reader, (item) => `id: ${item.cursor}\nevent: ${item.type}\ndata: ${JSON.stringify(dataOf(item))}\n\n`)

function dataOf(item: OutputItem): unknown {
  if (item.type === 'line') return item.line
  return item.type === 'status' ? item.status : item.gap
}

/** Changes of all sessions as messages. They have no id: after a reconnect the client lists the sessions again. */
export const changeMessages = (watcher: SessionWatcher): SseSource =>
  itemMessages(watcher, (change) => {
    const data = change.type === 'session' ? change.session : { id: change.id }
    return `event: ${change.type}\ndata: ${JSON.stringify(data)}\n\n`
  })

function itemMessages<T>(reader: Reader<readonly T[]>, message: (item: T) => string): SseSource {
  let items: readonly T[] = []
  let at = 0
  async function next(signal: AbortSignal): Promise<string | undefined> {
    if (at === items.length) {
      const batch = await reader.next(signal)
      if (batch === undefined) return undefined
      items = batch
      at = 0
    }
    let text = ''
    while (at < items.length && text.length < CHUNK_CHARS) text += message(items[at++] as T)
    return text
  }
  return { next, close: () => reader.close() }
}

/**
 * Progress of work, as messages. Without `leave` the work continues when the client disconnects.
 * @param leave Ends the work: `return` cannot interrupt an iterator that waits for its next item
 */
export function workMessages(work: AsyncIterable<string>, leave?: () => void): SseSource {
  const messages = work[Symbol.asyncIterator]()
  async function next(): Promise<string | undefined> {
    const { value, done } = await messages.next()
    return done === true ? undefined : value
  }
  function close(): void {
    leave?.()
    // No client is left to see how it ends.
    drain(messages).catch(() => undefined)
  }
  return { next, close }
}

async function drain(items: AsyncIterator<unknown>): Promise<void> {
  while ((await items.next()).done !== true) continue
}
