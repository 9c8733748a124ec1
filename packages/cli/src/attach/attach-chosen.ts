import { AgentprotoError, isLive, type Session } from '@agentproto/contracts'
import { isInteractive, warn, type CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { sessionName } from '../render/session-text.js'
import { filterOf, type SessionListOptions } from '../session-list-options.js'
import { watchSessions } from '../watch-sessions.js'
import { attachSession } from './attach-session.js'

/** As many are named without a terminal. */
const NAMED = 5

/**
 * `agentproto sessions --attach` without an id: attaches to the only live session; of several, a person chooses one from the
 * list.
 * @throws `session_not_found` if there is none, `invalid_request` without a terminal
 */
export async function attachChosen(context: CliContext, options: SessionListOptions): Promise<void> {
  const client = await connect(context)
  const { sessions } = await client.sessions.list(filterOf(options, Date.now()))
  if (sessions.length === 0)
    throw new AgentprotoError('session_not_found', 'There is no session to attach to', {
      hint: 'Start one with: agentproto sessions start demo --attach',
    })
  if (!isInteractive(context)) throw notNamed(sessions)
  const [only, second] = sessions.filter(isLive)
  if (only === undefined || second !== undefined) return watchSessions(context, { ...options, isPicker: true })
  warn(context, `attached to the only running session, ${sessionName(only)}`)
  return attachSession(context, only.id)
}

function notNamed(sessions: readonly Session[]): AgentprotoError {
  const [first, ...others] = [...sessions.filter(isLive), ...sessions.filter((session) => !isLive(session))].map(wordOf)
  const rest = others.slice(0, NAMED - 1)
  const more = others.length > rest.length ? ', …' : ''
  return new AgentprotoError('invalid_request', 'Without a terminal, --attach needs to know the session', {
    expected: 'a label or an id',
    hint: `Name it: agentproto sessions --attach ${first ?? ''}${rest.length === 0 ? '' : `. Others: ${rest.join(', ')}${more}`}`,
  })
}

/** One word that names a session on a command line. */
const wordOf = ({ id, label }: Session): string => (label !== undefined && /^[\w.:/-]+$/.test(label) ? label : id)
