import type { AgentAnswer, AgentRequest, Session } from '@agentproto/contracts'

/**
 * What a host says of a request before anybody else does: an answer, a denial with its reason, that only a person may
 * answer it, or nothing.
 */
export type GateVerdict =
  | { readonly answer: AgentAnswer }
  | { readonly deny: string }
  | { readonly person: true }
  | undefined

/** Never rejects. */
export type RequestGate = (session: Session, request: AgentRequest) => Promise<GateVerdict>
