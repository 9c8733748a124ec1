import type { ClientCapabilities, SessionUpdate } from '@agentclientprotocol/sdk'
import type { AcpSessions } from './acp-host.js'
import type { EndedSessions } from './ended-sessions.js'

/** The client as one of its sessions sees it. */
export interface ClientLink {
  readonly sessions: AcpSessions
  readonly ended: EndedSessions
  readonly capabilities: ClientCapabilities
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  /** Tells the client of a session; the promise is back-pressure. */
  update(sessionId: string, update: SessionUpdate): Promise<void> | undefined
  /** Asks the client; rejects when `signal` aborts, which takes the question back. */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>
  problem(problem: string): void
}
