import { AgentprotoError } from '@agentproto/contracts'

/** Session ids name directories, so an id from a caller is checked before it becomes a path. */
const SESSION_ID = /^s_[0-9a-z]{8,40}$/

export const SESSION_ID_PREFIX = 's_'

export function assertSessionId(id: string): string {
  if (SESSION_ID.test(id)) return id
  throw new AgentprotoError('session_not_found', 'The session id is not valid', {
    expected: '`s_` and letters or digits',
    given: id,
    hint: HINT,
  })
}

export const sessionNotFound = (id: string): AgentprotoError =>
  new AgentprotoError('session_not_found', 'There is no such session', { given: id, hint: HINT })

const HINT = 'Run `agentproto sessions` to see the ids'
