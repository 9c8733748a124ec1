import type { Principal } from '../principal.js'

/** Who calls, as the HTTP app has found out, and what the path allows. */
export interface AcpCaller {
  readonly by: Principal
  /** Aborts when the token of the caller ends: its connections end. */
  readonly ended?: AbortSignal | undefined
  /** Of `/acp/:agent`: only sessions of this adapter exist there. Absent for all. */
  readonly agent?: string | undefined
}

/** An accepted WebSocket. The members of a `WebSocket` of the package `ws` that are used: one fits as it is. */
export interface AcpSocket {
  /** Bytes that were not handed to the network yet. */
  readonly bufferedAmount: number
  /** @param sent called when the text was handed to the network, or cannot be */
  send(text: string, sent?: (error?: Error | null) => void): void
  ping(): void
  /** Closes with a code after what was sent before. */
  close(code?: number, reason?: string): void
  /** Ends it at once. */
  terminate(): void
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown
  on(event: 'close' | 'pong', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Sends what `send` was called with meanwhile in one write, which is several times as fast. Absent where the socket cannot. */
  together?(send: () => void): void
}

/** A place for one WebSocket. Exactly one of both is called. */
export interface AcpUpgrade {
  /** The header `Acp-Connection-Id` of the answer 101. */
  readonly connectionId: string
  accept(socket: AcpSocket): void
  /** Gives the place back: there was no upgrade. */
  reject(): void
}

/** ACP over the network. The HTTP app checks Host, Origin, token and scope before. */
export interface AcpService {
  /**
   * Answers one POST, GET or DELETE of streamable HTTP. The body is read here, within bounds.
   * @throws `request_limit_reached` where a caller has too many connections or streams, `shutting_down`
   */
  fetch(request: Request, caller: AcpCaller): Promise<Response>
  /** @throws `request_limit_reached` where a caller has too many connections, `shutting_down` */
  upgrade(caller: AcpCaller): AcpUpgrade | Promise<AcpUpgrade>
}
