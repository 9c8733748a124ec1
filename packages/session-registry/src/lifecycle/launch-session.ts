import type { Principal, Session, SessionOrigin, SpawnAgentRequest } from '@agentproto/contracts'
import type { ManagedSession } from '../managed-session.js'
import type { RecordKeeper } from '../record-keeper.js'
import { contentOf } from './spawn-request.js'

interface Launching extends Pick<SpawnAgentRequest, 'prompt'> {
  readonly origin?: SessionOrigin
  readonly by: Principal
}

/** Starts a session that was entered, and gives it its first prompt. */
export async function launchSession(
  session: ManagedSession,
  keeper: RecordKeeper,
  { prompt, origin = { how: 'new' }, by: { trace } }: Launching,
): Promise<Session> {
  await session.start({ origin, trace })
  // The child's identity is on the disk before anybody hears of the session: a later host can find it.
  await keeper.save(session)
  if (prompt !== undefined) await session.prompt(contentOf(prompt), { origin: 'spawn', trace })
  return session.snapshot()
}
