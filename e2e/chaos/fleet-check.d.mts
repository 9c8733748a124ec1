/** What a reader that followed a session has read. */
export interface ChaosReader {
  readonly last: number
  readonly chain: string
  readonly faults: readonly string[]
}

/** A message of the log of a session, as the NATS servers have it. */
export interface StoredMessage {
  readonly kind: string
  readonly epoch: number
  readonly first: number
  readonly last: number
  readonly body: Buffer
}

export interface CheckedSession {
  readonly id: string
  readonly cwd: string
  readonly mayMove?: boolean
  readonly lines: readonly string[]
  readonly copies: ReadonlyMap<string, readonly string[]>
  readonly reader?: ChaosReader | undefined
  readonly stored?: readonly StoredMessage[]
  readonly tokens: ReadonlyMap<string, number>
  readonly calm: ReadonlyMap<string, readonly (readonly string[])[]>
}

export declare function faultsOf(session: CheckedSession): string[]
export declare function linesIn(messages: readonly StoredMessage[]): string[]
export declare function lostByMoves(messages: readonly StoredMessage[]): readonly StoredMessage[]
