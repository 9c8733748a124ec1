import type { ContentBlock, PromptContextPart, Session, SessionEvent, UserPrompt } from '@agentproto/contracts'
import type { AgentFacts } from './input.js'
import { NO_CONTEXT, type SessionState } from './state.js'

/** What the agent must know before its next prompt, and when it counts as received. */

type Context = Pick<SessionState, 'context' | 'session'>

/** An agent was started, in a conversation that it knows or one that it has to be given. */
export function contextOfStart({ spawn, session }: SessionState, facts: AgentFacts): Context {
  const { isInstructed, knowsConversation, transcript } = facts
  const context = { ...NO_CONTEXT, transcript }
  if (spawn.instructions === undefined) return { context, session }
  if (isInstructed) return { context, session: { ...session, instructed: 'channel' } }
  if (knowsConversation && session.instructed === 'prompt') return { context, session }
  return { context, session: { ...session, instructed: 'pending' } }
}

/** What goes before the next prompt. */
export function pendingContext({ spawn, session, context }: SessionState): readonly PromptContextPart[] {
  const { instructions } = spawn
  const { transcript } = context
  return [
    ...(instructions === undefined || session.instructed !== 'pending'
      ? []
      : [{ kind: 'instructions' as const, text: instructions }]),
    ...(transcript === undefined ? [] : [{ kind: 'transcript' as const, text: transcript }]),
  ]
}

/** Follows a turn's first and last event. */
export function contextAfter({ context, session }: SessionState, event: SessionEvent): Context {
  if (event.type === 'user-prompt') {
    const offered = event.preface?.map(({ kind }) => kind) ?? []
    return { context: { ...context, offered, isSent: false }, session }
  }
  if (event.type !== 'turn-end' || context.offered.length === 0) return { context, session }
  // A prompt that failed at once may not have reached what the agent remembers.
  const isReceived = context.isSent && (event.reason !== 'error' || event.empty !== true)
  if (!isReceived) return { context: { ...context, offered: [] }, session }
  return {
    context: { ...(context.offered.includes('transcript') ? NO_CONTEXT : { ...context, offered: [] }) },
    session: context.offered.includes('instructions') ? withInstructions(session) : session,
  }
}

const withInstructions = (session: Session): Session => ({ ...session, instructed: 'prompt' })

/** To a model, the end of its turn looks like a request to stop; this one had another reason (failure mode 19). */
export const INTERRUPTION: PromptContextPart = {
  kind: 'interruption',
  text: '[Your last turn was interrupted only so that this message reaches you now. It is not a request to stop.]',
}

export const contentWithContext = ({ preface = [], content }: UserPrompt): readonly ContentBlock[] => [
  ...preface.map(({ text }): ContentBlock => ({ type: 'text', text })),
  ...content,
]
