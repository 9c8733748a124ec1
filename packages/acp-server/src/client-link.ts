import type { ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk'
import type { AcpSessions } from './acp-host.js'
import type { EndedSessions } from './ended-sessions.js'

/** The client as its sessions use it. */
export interface ClientLink {
  readonly sessions: AcpSessions
  readonly ended: EndedSessions
  readonly capabilities: ClientCapabilities
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Sends an update of a session; the promise is back-pressure. */
  update(sessionId: string, update: SessionUpdate): Promise<void> | undefined
  /** Sends a request to the client; rejects when `signal` aborts, which withdraws the request. */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>
  problem(problem: string): void
}
