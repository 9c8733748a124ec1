import type { AdapterService } from '@agentproto/contracts'
import type { Terminal } from '@agentproto/runtime'
import { connect } from '../daemon/daemon.js'
import { print, type Io } from '../io.js'

/**
 * The adapters of the gateway that the environment names, else those of the home, for which no gateway need run.
 * @param terminal a person who can be asked; a gateway elsewhere cannot ask one
 */
export async function adaptersOf(io: Io, terminal?: Terminal): Promise<AdapterService> {
  if (io.env['AGENTPROTO_URL']) return (await connect(io)).adapters
  const { openAdapters } = await import('@agentproto/runtime')
  return openAdapters({
    env: io.env,
    cwd: io.cwd,
    onProblem: (problem) => print(io.stderr, `agentproto: ${problem}`),
    ...(terminal === undefined ? {} : { terminal }),
  })
}
