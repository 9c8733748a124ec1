import { type ContextDelivery, defined, type Rewound, type TurnEnd } from '@agentproto/contracts'
import type { AgentFacts } from './input.js'
import { NO_CONTEXT, type PromptContext, type SessionState } from './state.js'

/** What the agent must know before its next prompt, and when it counts as received. */

type Context = Pick<SessionState, 'context' | 'session'>

/** An agent was started, in a conversation that it knows or one that it has to be given. */
export function contextOfStart({ spawn, session, context: before }: SessionState, facts: AgentFacts): Context {
  const context = { ...NO_CONTEXT, ...defined({ transcript: facts.transcript, isRewound: before.isRewound }) }
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
    context: withoutReceived(context),
    session: {
      ...session,
      ...(context.offered.includes('instructions') ? { instructed: 'prompt' } : {}),
      ...(context.offered.includes('envelope') ? { envelope: 'prompt' } : {}),
    },
  }
}

/** The agent is to know of files that were set back. */
export const withRewind = (state: SessionState, { files }: Pick<Rewound, 'files'>): SessionState =>
  files === 0 ? state : { ...state, context: { ...state.context, isRewound: true } }

function withoutReceived({ transcript, isRewound, offered }: PromptContext): PromptContext {
  const left = defined({
    transcript: offered.includes('transcript') ? undefined : transcript,
    isRewound: offered.includes('rewind') ? undefined : isRewound,
  })
  return { ...NO_CONTEXT, ...left }
}

function delivery(
  before: ContextDelivery | undefined,
  { isInstructed, knowsConversation }: AgentFacts,
): ContextDelivery {
  if (isInstructed) return 'channel'
  return knowsConversation && before === 'prompt' ? 'prompt' : 'pending'
}
