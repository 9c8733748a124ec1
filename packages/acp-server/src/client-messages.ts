/** The messages of one client, both ways. What carries them, nothing above knows. */
export interface ClientMessages {
  /** What the client sends, parsed from JSON and otherwise unchecked; its end is the end of the connection. */
  readonly received: AsyncIterable<unknown>
  /** Sends one message, in the order of the calls. The promise is back-pressure. */
  send(message: object): Promise<void> | undefined
  /** As `send`, of a message that is JSON already. Absent where messages are objects. */
  sendJson?(json: string): Promise<void> | undefined
  /** Calls `send` of many messages, which may be sent in one write. Absent where it makes no difference. */
  together?(sendAll: () => void): void
}
