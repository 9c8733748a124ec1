/** Bounds of what one agent sends, has and is sent. Times are in milliseconds. `docs/security.md` has each of them. */
export const AGENT_BOUNDS = {
  /** Characters of the name and the version of an agent that are kept. */
  nameChars: 256,
  /** Ways to log in. */
  authMethods: 64,
  /** Characters of the id that an agent gives a session. */
  sessionIdChars: 4_096,
  /** Characters of the id of a call: it is kept for the whole turn, here and for each client. */
  callIdChars: 1_024,
  /** Updates and notices that are kept until a session is open, of each, and their characters as JSON. */
  earlyMessages: 1_000,
  earlyChars: 8 * 1024 * 1024,
  /** Pages of `session/list` that are read, and sessions that are kept of all of them. */
  listPages: 100,
  listedSessions: 10_000,
  /** Ids of closed sessions that are kept, because the agent may still send updates of them; and how many a later host is given. */
  closedSessions: 1_000,
  closedSessionsKept: 100,
  /** Requests of one agent that are handled at once. */
  openRequests: 64,
  /** Characters of the largest content that the permission request for a write shows. */
  shownChars: 256 * 1024,
  /** Bytes of the largest file that is read or written for an agent. */
  fileBytes: 10 * 1024 * 1024,
  /** Terminals of one session that exist at once. */
  terminals: 32,
  /** Bytes of a command's output that are kept at most. */
  terminalBytes: 8 * 1024 * 1024,
  /** Bytes of the longest line of it. */
  terminalLineBytes: 1024 * 1024,
  /** Bytes of a message over the network: as long as a line of a process may be. A WebSocket cannot skip a longer one: it ends the connection. */
  messageBytes: 64 * 1024 * 1024,
  /** More bytes wait only for an agent that sends and does not read: a prompt is shorter, and what else is sent is an answer. */
  unsentBytes: 64 * 1024 * 1024,
  /** While more bytes wait, no ping is answered. RFC 6455 §5.5.3: the answer to a later one counts for it. */
  beforePongBytes: 64 * 1024,
  /** How long a connection may be silent before it is asked for a sign of life. */
  pingMs: 20_000,
  /** How long that sign may take. */
  pongMs: 10_000,
  /** Updates of one turn that are kept until the history is complete, and their characters; also those of all its prompts. */
  historyUpdates: 20_000,
  historyChars: 16 * 1024 * 1024,
  /** Prompts of a history that are kept; the last ones count. */
  historyPrompts: 1_000,
  /** Characters of one of them: a longer prompt than one that can be sent is cut. */
  historyPromptChars: 5 * 1024 * 1024,
  /** Characters of a turn's text that are remembered, to find it in the history of an agent that numbers nothing; and its calls. */
  turnChars: 1024 * 1024,
  turnCalls: 10_000,
  /** Ends of turns that are remembered while a session is loaded again. */
  turnEnds: 1_000,
  /** Requests of one turn that are remembered. */
  turnRequests: 64,
} as const
