import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isLive } from '@agentproto/contracts'
import type { SessionService } from '@agentproto/contracts/wire'
import type { Settings } from './settings.js'

/**
 * Removes what is left of the sandboxes of sessions that have ended. Those of unknown sessions stay: another program may use
 * the home. Never rejects.
 */
export async function forgetSandboxes(
  sessions: Pick<SessionService, 'get'>,
  { layout: { sandboxes } }: Pick<Settings, 'layout'>,
  onProblem: (problem: string) => void,
): Promise<void> {
  const names = await readdir(sandboxes).catch(() => [])
  for (const name of names) {
    if (!(await hasEnded(sessions, name))) continue
    await rm(join(sandboxes, name), { recursive: true, force: true }).catch((thrown: unknown) =>
      onProblem(String(thrown)),
    )
  }
}

const hasEnded = (sessions: Pick<SessionService, 'get'>, id: string): Promise<boolean> =>
  sessions.get(id).then(
    (session) => !isLive(session),
    () => false,
  )
