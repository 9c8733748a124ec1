import { type Session, type SessionStateName, summaryOf } from '@agentproto/contracts'

/** The state of a session. It is derived here too, since a gateway of an older version does not send it. */
export const sessionState = (session: Session): SessionStateName => summaryOf(session).state

/** Ids are random: ten characters distinguish hundreds of them. */
const SHORT_ID = 10

export const shortId = (id: string): string => id.slice(0, SHORT_ID)
