import type { Clock } from '@agentproto/contracts'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { endProcesses, findMarkedProcesses, SESSION_MARKER } from '@agentproto/subprocess'
import { inScratchFolder, scratchVariables } from './scratch-folder.js'

/**
 * Runs with the adapter as it is for an agent that is not trusted yet: its commands, such as the one that prints its version, have an
 * empty home and a folder for temporary files, and get no variable and no secret that its manifest asks for. What they leave there, or
 * running, is gone afterwards. The host that it is run on has the policy `isolated`.
 */
export async function inScratchHome<T>(
  adapter: LoadedAgentCli,
  clock: Clock,
  run: (adapter: LoadedAgentCli) => Promise<T>,
): Promise<T> {
  return inScratchFolder(clock, async (scratch) => {
    const { sandbox, manifest } = adapter
    const own = { ...scratchVariables(scratch, manifest), [SESSION_MARKER]: scratch.marker }
    // Its manifest may ask for any variable and any secret of the user.
    const env = { authVariables: [], passthrough: [], set: { ...sandbox.env.set, ...own } }
    const { auth: _auth, ...rest } = manifest
    const untrusted = { ...rest, models: { ...manifest.models, env: {} } }
    try {
      return await run({ ...adapter, manifest: untrusted, sandbox: { ...sandbox, env } })
    } finally {
      await endProcesses(findMarkedProcesses(scratch.marker), { termGraceMs: 1_000 }, clock)
    }
  })
}
