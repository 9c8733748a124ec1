import type { Session } from '@agentproto/client'
import { isLive, type SessionStateName, summaryOf } from '@agentproto/contracts'

/** Whether the host of a session is not heard from: it can be read, and nothing else. */
export const isAway = (session: Pick<Session, 'state'> | undefined): boolean => session?.state === 'unreachable'

/** What a session did when its host was last heard from. */
export const lastState = (session: Session): SessionStateName =>
  isAway(session) ? summaryOf(session).state : session.state

/** Whether a prompt goes to it now, or will when its host is back. */
export const isPromptable = (session: Session): boolean =>
  isLive(session) || (isAway(session) ? summaryOf(session).wakeable : session.wakeable)
