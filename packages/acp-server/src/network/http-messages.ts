import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { Clock } from '@agentproto/contracts'
import type { ClientMessages } from '../client-messages.js'

/** Messages that are on their way to the transport before a sender waits. */
const ON_THE_WAY = 64

interface Options {
  readonly clock: Clock
  readonly stallMs: number
  /** The transport took nothing for so long: its client does not read. */
  readonly onStalled: () => void
}

/** A client behind a transport that waits by itself while that client does not keep up. */
export function httpMessages({ readable, writable }: Stream, { clock, stallMs, onStalled }: Options): ClientMessages {
  const writer = writable.getWriter()
  let waiting = 0
  /** When the transport was last known to take something. */
  let taken = 0
  let isWatched = false

  function watch(ms: number): void {
    isWatched = true
    clock.after(ms, () => {
      isWatched = false
      const left = taken + stallMs - clock.now()
      if (waiting === 0) return
      if (left > 0) watch(left)
      else onStalled()
    })
  }

  function isTaken(): void {
    waiting--
    taken = clock.now()
  }

  return {
    received: readable as ReadableStream<AnyMessage> & AsyncIterable<AnyMessage>,
    send(message) {
      if (waiting === 0) taken = clock.now()
      waiting++
      // A failure is the end of the connection, of which its reader learns too.
      const written = writer.write(message as AnyMessage).then(isTaken, isTaken)
      if (!isWatched) watch(stallMs)
      return waiting < ON_THE_WAY ? undefined : written
    },
  }
}
