import { BOUNDS } from './requests.js'

/** Bounds of ACP over the network. Times are in milliseconds. */
export const ACP_BOUNDS = {
  /** Connections that are open at once, shared by the callers. */
  connections: 256,
  /** Open sessions of one connection, and its open event streams beside that of the connection. */
  sessionStreams: 128,
  /** Unanswered requests of one connection. */
  openRequests: 256,
  /** Bytes of one message, in a body or in a frame. */
  messageBytes: BOUNDS.bodyBytes,
  /** Characters of an id of a request or session. */
  idChars: 1_024,
  /** Characters of a log that are parsed at once; an event that has more is parsed alone. */
  pageChars: 1024 * 1024,
  /** Calls of one turn that are known to be shown; beyond it, known calls are sent as new ones again. */
  turnCalls: 10_000,
  /** Characters of what was handed out that are kept for a single stream that is cut: what a network loses on the way. */
  keptChars: 256 * 1024,
  /** Problems of one connection that are logged: a client must not be able to fill the log. */
  problems: 10,
  /** Bytes that wait for a client; beyond it nothing more is read for it. */
  outputBytes: 8 * 1024 * 1024,
  /** How long so much output may wait without any of it being taken. */
  stallMs: 30_000,
  /** Within which a client sends `initialize`. */
  handshakeMs: 10_000,
  /** Pause between two pings of a WebSocket. */
  pingMs: 20_000,
  /** Within which a ping is answered. */
  pongMs: 10_000,
  /** How long a connection of HTTP may have neither a stream nor a request. */
  idleMs: 5 * 60_000,
} as const
