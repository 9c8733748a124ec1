/** The state of the connection of a follower. */
export type ConnectionState =
  | { readonly state: 'connected'; readonly url: string }
  | {
      readonly state: 'reconnecting'
      /** The last known address. */
      readonly url: string
      /** Failed attempts since the connection broke; 0 when it has just broken. */
      readonly attempt: number
      /** Milliseconds since the connection broke. */
      readonly awayMs: number
      /** Why the connection broke or the attempt failed; absent if the stream ended without an error. */
      readonly cause?: unknown
    }

/** Receives each change. Must not throw. */
export type OnConnectionState = (state: ConnectionState) => void

/** How something is followed. */
export interface FollowOptions {
  readonly signal?: AbortSignal | undefined
  /** Receives changes of the connection. */
  readonly onState?: OnConnectionState
}
