import { resolve } from 'node:path'
import { AgentprotoError, systemClock } from '@agentproto/contracts'
import type { AgentObservation, ArmLimits } from '@agentproto/contracts/agent'
import { buildEnvironment, findExecutable, SESSION_MARKER } from '@agentproto/subprocess'
import { DEFAULT_CLIENT } from '../launch/launch-agent.js'
import { OBSERVATION_LIMITS, observeLaunch } from './observe-launch.js'
import { inScratchFolder, scratchVariables } from './scratch-folder.js'

export interface DescribeAgent {
  /** The program, and its arguments; never run by a shell. */
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder that a relative program is in. */
  readonly cwd: string
  /**
   * Lets it use the user's own home, in which it may be logged in, and may keep a record of the session. Default: its home is
   * an empty folder, and nothing stays.
   */
  readonly userHome?: boolean
  readonly limits?: Partial<ArmLimits>
  readonly signal: AbortSignal
}

/**
 * Observes an ACP agent that has no manifest: see `observeAgent`.
 * @throws `agent_not_installed`, `spawn_failed`, `handshake_failed`, `timeout`, `cancelled`
 */
export async function describeAgent(options: DescribeAgent): Promise<AgentObservation> {
  const { cwd, env: parent, userHome = false, limits, signal } = options
  const [name, ...args] = options.command
  const program = name.includes('/') ? resolve(cwd, name) : name
  const command = await findExecutable(program, { path: parent['PATH'] ?? '' })
  if (command === undefined)
    throw new AgentprotoError('agent_not_installed', `${name} was not found`, {
      expected: 'a program on PATH, or a path',
    })
  const clock = systemClock
  return inScratchFolder(clock, (scratch) => {
    const declared = { ...(userHome ? {} : scratchVariables(scratch, NO_MANIFEST)), [SESSION_MARKER]: scratch.marker }
    const env = buildEnvironment({ policy: 'filtered', parent, declared })
    return observeLaunch({
      launch: { command, args, cwd: scratch.work, env, marker: scratch.marker },
      scratch,
      limits: { ...OBSERVATION_LIMITS, ...limits },
      clock,
      signal,
      client: DEFAULT_CLIENT,
    })
  })
}

const NO_MANIFEST = { metadata: {} }
