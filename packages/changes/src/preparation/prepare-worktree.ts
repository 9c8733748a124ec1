import { AgentprotoError, type Clock, systemClock } from '@agentproto/contracts'
import type { SessionWorktrees } from '@agentproto/contracts/agent'
import { buildEnvironment } from '@agentproto/subprocess'
import { copyFiles } from './copy-files.js'
import { runSetup } from './run-setup.js'
import { readSettings, SETTINGS_FILE } from './worktree-settings.js'

export interface PreparationOptions {
  /** Whether the owner trusts a folder; given its real path. */
  readonly isTrusted: (folder: string) => Promise<boolean>
  /** The environment of the setup, without what looks like a credential. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** How long the setup may take, in milliseconds; default ten minutes. */
  readonly setupMs?: number
  readonly clock?: Clock
}

const SETUP_MS = 10 * 60_000

/**
 * Prepares worktrees as their repository's `.agentproto/worktree.json` says: copies files that git does not have, and runs the
 * setup. The file of the repository's own folder counts, never that of the branch, and its setup only where it is trusted.
 */
export function createPreparation(options: PreparationOptions): NonNullable<SessionWorktrees['prepare']> {
  const { isTrusted, setupMs: ms = SETUP_MS, clock = systemClock } = options
  const env = buildEnvironment({ policy: 'filtered', parent: options.env })
  return async function prepareWorktree({ path, repository }, { sessionId, signal, report }) {
    const { copy = [], setup } = await readSettings(repository)
    for (const file of await copyFiles(copy, { from: repository, to: path })) report(`${file} is copied`)
    if (setup === undefined) return
    if (!(await isTrusted(repository)))
      return report(`The setup is not run: ${repository}/${SETTINGS_FILE} is not trusted`)
    signal.throwIfAborted()
    report(`Setup: ${setup.join(' ')}`)
    const exit = await runSetup(setup, { sessionId, cwd: path, env, ms, clock, signal, report })
    if (exit.exitCode === 0) return
    throw new AgentprotoError(
      'worktree_setup_failed',
      `The setup of the worktree ended with ${exit.exitCode ?? exit.signal}`,
      {
        given: setup.join(' '),
        hint: `Change "setup" in ${repository}/${SETTINGS_FILE}`,
      },
    )
  }
}
