import { type ContextDelivery, defined, type TurnEnd } from '@agentproto/contracts'
import type { AgentFacts } from './input.js'
import { NO_CONTEXT, type SessionState } from './state.js'

/** What the agent must know before its next prompt, and when it counts as received. */

type Context = Pick<SessionState, 'context' | 'session'>

/** An agent was started, in a conversation that it knows or one that it has to be given. */
export function contextOfStart({ spawn, session }: SessionState, facts: AgentFacts): Context {
  const context = { ...NO_CONTEXT, transcript: facts.transcript }
  const instructed = spawn.instructions === undefined ? undefined : delivery(session.instructed, facts)
  const envelope = spawn.envelope === undefined ? undefined : delivery(session.envelope, facts)
  return { context, session: { ...session, ...defined({ instructed, envelope }) } }
}

/** The turn has ended whose prompt began with the offered context. */
export function contextAfter({ context, session }: SessionState, event: TurnEnd): Context {
  // A prompt that failed at once may not have reached what the agent remembers.
  const isReceived = context.isSent && (event.reason !== 'error' || event.empty !== true)
  if (!isReceived) return { context: { ...context, offered: [] }, session }
  return {
    context: { ...(context.offered.includes('transcript') ? NO_CONTEXT : { ...context, offered: [] }) },
    session: {
      ...session,
      ...(context.offered.includes('instructions') ? { instructed: 'prompt' } : {}),
      ...(context.offered.includes('envelope') ? { envelope: 'prompt' } : {}),
    },
  }
}

function delivery(
  before: ContextDelivery | undefined,
  { isInstructed, knowsConversation }: AgentFacts,
): ContextDelivery {
  if (isInstructed) return 'channel'
  return knowsConversation && before === 'prompt' ? 'prompt' : 'pending'
}
