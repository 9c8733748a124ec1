import { AgentprotoError, defined, type Principal, type Session } from '@agentproto/contracts'
import type { SessionOrigin, StoredSession } from '@agentproto/contracts/agent'
import type { ForkRequest } from '@agentproto/contracts/wire'
import type { Roots } from '../delegation/root-folder.js'
import { isDenial } from '../permissions/rule-book.js'
import { type Creation, envelopeOf, newSession } from './spawn-request.js'

/** A session that begins with the conversation of another one. */
export interface Fork extends Pick<StoredSession, 'session' | 'spawn' | 'rules'> {
  readonly origin: SessionOrigin
}

/**
 * What a fork is made of: the old session's folder and settings, and the label and title of the request.
 * @throws `not_supported`, `turn_in_progress`
 */
export function forkOf(
  { session: old, spawn, rules = [], meter }: StoredSession,
  request: ForkRequest,
  { by, creation, roots }: { readonly by: Principal; readonly creation: Creation; readonly roots: Roots },
): Fork {
  const { agent, agentSessionId, adapterSlug, cwd, permissionMode, additionalDirectories, worktree } = old
  if (agentSessionId === undefined || agent?.capabilities.fork !== true) throw cannotFork(old)
  // The agent has stored the turns before; the running one it may not have stored yet.
  if (old.turn.state !== 'idle')
    throw new AgentprotoError('turn_in_progress', 'A turn of the session is running', {
      hint: 'Fork it after the turn',
    })
  const { label = old.label, title = old.title } = request
  // A worktree that it shares was prepared for the old session, and another call started that.
  const { ownsWorktree: _, idempotency: _i, ...settings } = spawn
  const given = defined({ label, title, additionalDirectories: additionalDirectories && [...additionalDirectories] })
  const fresh = newSession({ adapter: adapterSlug, permissionMode, ...given }, by, creation)
  // The new conversation has the instructions of the old one, and the envelope of another session.
  const context = { ...defined({ instructed: old.instructed }), ...envelopeOf(spawn) }
  return {
    session: {
      ...fresh,
      ...context,
      adapterSlug,
      ...roots.place,
      cwd,
      ...defined({ worktree }),
      warnings: [],
      forkedFrom: old.id,
    },
    // Its agent may report the cost of the whole conversation.
    spawn: {
      ...settings,
      roots: roots.folders,
      ...defined({ title: request.title, reportedCost: meter?.reported }),
    },
    // What was denied to the one is denied to the other.
    rules: rules.filter(isDenial),
    origin: { how: 'fork', agentSessionId },
  }
}

const cannotFork = ({ adapterSlug, agent }: Session): AgentprotoError =>
  new AgentprotoError('not_supported', `The agent of ${adapterSlug} cannot fork a session`, {
    expected: 'an agent with the capability "fork"',
    given: agent === undefined ? 'an agent that never started' : 'one without',
    hint: 'Start a new session, and give it what it needs to know in the first prompt',
  })
