import { type Session, type SessionStateName, summaryOf } from '@agentproto/contracts'
import { oneLine } from './printable.js'

/**
 * The state of a session. It is derived here too, since a gateway of an older version does not send it; only the gateway knows
 * whether a host is heard from.
 */
export const sessionState = (session: Session): SessionStateName =>
  session.state === 'unreachable' ? session.state : summaryOf(session).state

/** Ids are random: ten characters distinguish hundreds of them. */
const SHORT_ID = 10

export const shortId = (id: string): string => id.slice(0, SHORT_ID)

/** What a person calls a session and can type to name it: its label, else the start of its id, with its title. */
export const sessionName = ({ id, label, title }: Pick<Session, 'id' | 'label' | 'title'>): string =>
  oneLine(label ?? `${shortId(id)} ${title ?? ''}`)
