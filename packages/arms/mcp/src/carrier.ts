import type { Json } from '@agentproto/contracts'
import type { WriteLine } from '@agentproto/arm-kit'

/** What carries the messages of a connection to the server. Those of the server are handed to the client. */
export interface Carrier {
  /**
   * Sends one message.
   * @param onStreamEnd the answer cannot come any more: the stream that would carry it has ended
   */
  send(message: Json, onStreamEnd?: () => void): Promise<void>
  /** The version of the protocol that was agreed upon. */
  useVersion(version: string): void
}

/** Lines on the stdin of a process, whose end ends the connection. */
export const lineCarrier = (write: WriteLine): Carrier => ({
  // Back-pressure of the server's stdin is the pipe's: what is sent is bounded by the turns that run.
  send: async (message) => write(JSON.stringify(message)),
  useVersion: () => {},
})
