import { AgentprotoError, type Session } from '@agentproto/contracts'
import type { Ending } from './ending.js'

/** Why a session ends that another host continues. */
export const MOVED: Ending = { status: 'killed', stopReason: 'moved' }

/** @throws `session_ended` for a session that another host has */
export function assertHere(session: Pick<Session, 'id' | 'movedTo'>): void {
  if (session.movedTo !== undefined) throw movedError(session)
}

export const movedError = ({ id, movedTo = 'another host' }: Pick<Session, 'id' | 'movedTo'>): AgentprotoError =>
  new AgentprotoError('session_ended', `The session is on ${movedTo} now`, {
    given: id,
    hint: `Use it there: what is here is what this host last knew of it`,
    data: { host: movedTo },
  })
