import { type AnsweredBy, isLive } from '@agentproto/contracts'
import type { ConfigChange } from '@agentproto/contracts/agent'
import type { ConfigRequest } from '@agentproto/contracts/wire'
import { endedError, startingError } from '../lifecycle/ending.js'
import type { SessionActor } from './actor.js'
import { adaptMode } from './agent-start.js'
import type { SessionHandle } from './session-handle.js'

/** Sets what a running agent offers, and how its requests are answered. See {@link SessionService.configure}. */
export async function configureSession(session: SessionActor, request: ConfigRequest, by: AnsweredBy): Promise<void> {
  const { permissionMode: mode } = request
  const changes = changesOf(request)
  if (changes.length > 0) assertRunning(session)
  if (mode !== undefined) {
    await session.started()
    await session.call('set-permission-mode', { mode, by })
    await applyMode(session)
  }
  for (const change of changes) {
    await session.agent?.configure(change)
    await session.post({ type: 'configured', change })
  }
}

/** It is the most that the sessions below have. One that is still starting will be set by the mode of then. */
async function applyMode(session: SessionHandle): Promise<void> {
  await session.review()
  if (session.agent !== undefined && isLive(session.state.session)) await adaptMode(session, session.agent)
  await Promise.all(session.children.map(applyMode))
}

function assertRunning({ state: { run, session } }: SessionActor): void {
  if (run.phase === 'starting') throw startingError()
  if (run.phase !== 'running') throw endedError(session)
}

/** The changes that a request names: the mode first, since what else there is may depend on it. */
function changesOf({ mode, model, options = {} }: ConfigRequest): readonly ConfigChange[] {
  return [
    ...(mode === undefined ? [] : [{ mode }]),
    ...(model === undefined ? [] : [{ model }]),
    ...Object.entries(options).map(([optionId, value]) => ({ optionId, value })),
  ]
}
