import { setMaxListeners } from 'node:events'
import { AgentprotoError, FairShares } from '@agentproto/contracts'
import type { AcpCaller } from '@agentproto/contracts/wire'
import type { AcpLimits } from './acp-endpoint.js'

/** The reason of an end after which a client may connect again. */
export const SHUTTING_DOWN = 'The gateway is shutting down'

/** A connection that has a place among those of all callers. */
export interface Connection {
  readonly caller: AcpCaller
  /** Aborts when the connection must end: the reason says why. */
  readonly signal: AbortSignal
  /** Ends it. Idempotent; the first reason counts. */
  end(why: string): void
  /** It has ended, and its place is free. Idempotent. */
  leave(): void
}

/** The open connections of all callers: each belongs to the principal and the path that opened it. */
export class Connections {
  readonly #max: number
  readonly #shares: FairShares
  readonly #open = new Set<Connection>()
  #isClosed = false

  constructor({ connections }: Pick<AcpLimits, 'connections'>) {
    this.#max = connections
    this.#shares = new FairShares(connections)
  }

  /** @throws `request_limit_reached`, `shutting_down` */
  open(caller: AcpCaller): Connection {
    if (this.#isClosed) throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
    const ending = new AbortController()
    const end = (why: string): void => ending.abort(why)
    const release = this.#shares.take(caller.by, () => end('Another caller gets its place'))
    if (release === undefined) throw this.#tooMany()
    const tokenEnds = (): void => end('The token has ended')
    const leave = (): void => {
      caller.ended?.removeEventListener('abort', tokenEnds)
      this.#open.delete(connection)
      release()
    }
    const connection = { caller, signal: ending.signal, end, leave }
    this.#open.add(connection)
    if (caller.ended?.aborted === true) tokenEnds()
    else if (caller.ended !== undefined) this.#endWith(caller.ended, tokenEnds)
    return connection
  }

  /** Ends all; nothing is opened afterwards. Idempotent. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#open) connection.end(SHUTTING_DOWN)
  }

  /** A caller has up to its share of connections, for which Node would warn of a leak. */
  #endWith(ended: AbortSignal, tokenEnds: () => void): void {
    setMaxListeners(0, ended)
    ended.addEventListener('abort', tokenEnds)
  }

  #tooMany(): AgentprotoError {
    return new AgentprotoError('request_limit_reached', 'Too many connections are open', {
      expected: `at most ${this.#max}, of one caller ${this.#shares.each}`,
      hint: 'Close a connection that is not needed, then try again',
    })
  }
}

/** Whether a caller is the one that opened a connection, at the same path. */
export const isOwner = ({ caller: { by, agent } }: Connection, caller: AcpCaller): boolean =>
  by.type === caller.by.type && by.name === caller.by.name && agent === caller.agent

/** Runs when the connection must end, also if that is already so. */
export function whenEnding({ signal }: Connection, run: (why: string) => void): void {
  const ending = (): void => run(String(signal.reason))
  if (signal.aborted) ending()
  else signal.addEventListener('abort', ending, { once: true })
}
