import type { ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk'
import type { SessionEvent } from '@agentproto/contracts'
import type { AcpSessions } from './acp-host.js'
import type { EndedSessions } from './ended-sessions.js'
import type { HostPresence } from './host-presence.js'

/** The client as its sessions use it. */
export interface ClientLink {
  readonly sessions: AcpSessions
  readonly ended: EndedSessions
  readonly hosts: HostPresence
  readonly capabilities: ClientCapabilities
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Whether the client may answer what the agent of a session asks. */
  mayAnswer(sessionId: string): boolean
  /** Whether the client asked for the numbers of events, with which it continues where it was cut off. */
  readonly numbered: boolean
  /**
   * Sends an update of a session; the promise is back-pressure.
   * @param of The event whose last update it is
   */
  update(sessionId: string, update: SessionUpdate, of?: EventNumber): Promise<void> | undefined
  notify(method: string, params: object): Promise<void> | undefined
  /** Sends a message that is JSON already. Absent where messages are objects. */
  readonly sendJson: ((json: string) => Promise<void> | undefined) | undefined
  /** Sends what is sent meanwhile in one write, where that is faster. */
  together(sendAll: () => void): void
  /** Sends a request to the client; rejects when `signal` aborts, which withdraws the request. */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>
  problem(problem: string): void
}

/** Where an update comes from in the log. */
export type EventNumber = Pick<SessionEvent, 'seq' | 'turn'>
