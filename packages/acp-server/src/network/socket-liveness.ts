import type { Clock, Timer } from '@agentproto/contracts'
import type { AcpSocket } from '@agentproto/contracts/wire'
import type { AcpLimits } from './acp-endpoint.js'

export interface Liveness {
  /** Something came from the client. */
  seen(): void
  stop(): void
}

interface Options {
  readonly clock: Clock
  readonly limits: Pick<AcpLimits, 'pingMs' | 'pongMs'>
  readonly onDead: () => void
}

/** Pings a client, and reports it when neither a pong nor anything else comes from it. */
export function watchSocket(socket: AcpSocket, { clock, limits: { pingMs, pongMs }, onDead }: Options): Liveness {
  let isSeen = false
  let buffered = 0
  let timer: Timer = clock.after(pingMs, ping)
  const seen = (): void => void (isSeen = true)
  socket.on('pong', seen)

  function ping(): void {
    isSeen = false
    buffered = socket.bufferedAmount
    socket.ping()
    timer = clock.after(pongMs, check)
  }

  function check(): void {
    // The ping waits behind the output: a slow client that still takes some of it is alive.
    if (isSeen || socket.bufferedAmount < buffered) timer = clock.after(Math.max(0, pingMs - pongMs), ping)
    else onDead()
  }

  return { seen, stop: () => timer.cancel() }
}
