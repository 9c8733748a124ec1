/** How a follower's connection to the gateway is. */
export type ConnectionState =
  | { readonly state: 'connected'; readonly url: string }
  | {
      readonly state: 'reconnecting'
      /** Where the gateway was last. */
      readonly url: string
      /** Tries that failed since the connection broke; 0 when it has just broken. */
      readonly attempt: number
      /** How long it is away, in milliseconds. */
      readonly awayMs: number
      /** Why the connection broke or the try failed; absent where the stream just ended. */
      readonly cause?: unknown
    }

/** Told of each change. Must not throw. */
export type OnConnectionState = (state: ConnectionState) => void
