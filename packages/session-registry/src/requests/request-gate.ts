import type { AgentAnswer, AgentRequest, Session } from '@agentproto/contracts'

/**
 * What a hook of the host decides about a request before any rule or person: an answer, a denial with its reason, that
 * only a person may answer, or nothing.
 */
export type GateVerdict =
  | { readonly answer: AgentAnswer }
  | { readonly deny: string }
  | { readonly person: true }
  | undefined

/** Never rejects. */
export type RequestGate = (session: Session, request: AgentRequest) => Promise<GateVerdict>
