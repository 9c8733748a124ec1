import type { Clock } from '@agentproto/contracts'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { endProcesses, findMarkedProcesses, SESSION_MARKER } from '@agentproto/subprocess'
import { inScratchFolder, scratchVariables } from './scratch-folder.js'

/**
 * Runs with the adapter as it is for an agent that is not trusted yet: its commands, such as the one that prints its version, have an
 * empty home and a folder for temporary files. What they leave there, or running, is gone afterwards.
 */
export async function inScratchHome<T>(
  adapter: LoadedAgentCli,
  clock: Clock,
  run: (adapter: LoadedAgentCli) => Promise<T>,
): Promise<T> {
  return inScratchFolder(clock, async (scratch) => {
    const { sandbox, manifest } = adapter
    const own = { ...scratchVariables(scratch, manifest), [SESSION_MARKER]: scratch.marker }
    const set = { ...sandbox.env.set, ...own }
    try {
      return await run({ ...adapter, sandbox: { ...sandbox, env: { ...sandbox.env, set } } })
    } finally {
      await endProcesses(findMarkedProcesses(scratch.marker), { termGraceMs: 1_000 }, clock)
    }
  })
}
