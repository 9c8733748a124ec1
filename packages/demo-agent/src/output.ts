import type { Writable } from 'node:stream'

/**
 * The one path to stdout. Everything said within one turn of the event loop leaves in one write, in
 * order; nothing else may write to the stream, or messages could be torn or reordered.
 */
export interface Output {
  /** Queues one JSON-RPC message. */
  message(message: unknown): void
  /** Queues text as it is: whole lines, or half of one. */
  raw(text: string): void
  /** Settles when the peer has taken enough for more to be queued, and at least one loop turn later. */
  room(): Promise<void>
  /** Hands over everything queued, then calls back; also when the peer is gone. */
  flush(done: () => void): void
}

export function createOutput(stream: Writable): Output {
  let queued = ''
  let scheduled = false
  let drained: Promise<void> | undefined

  function write(): void {
    scheduled = false
    if (queued === '') return
    const text = queued
    queued = ''
    if (!stream.write(text) && !drained) drained = nextDrain(stream).then(() => void (drained = undefined))
  }

  function raw(text: string): void {
    queued += text
    if (scheduled) return
    scheduled = true
    setImmediate(write)
  }

  return {
    message: (message) => raw(`${JSON.stringify(message)}\n`),
    raw,
    async room() {
      write()
      await (drained ?? new Promise<void>((resolve) => setImmediate(resolve)))
    },
    flush(done) {
      write()
      stream.write('', () => done())
    },
  }
}

/** A stream that closes never drains: both end the wait. */
function nextDrain(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    function settle(): void {
      stream.off('drain', settle)
      stream.off('close', settle)
      resolve()
    }
    stream.once('drain', settle)
    stream.once('close', settle)
  })
}
