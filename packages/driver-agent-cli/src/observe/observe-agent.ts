import { AgentprotoError, systemClock } from '@agentproto/contracts'
import type { AgentObservation, ArmLimits } from '@agentproto/contracts/agent'
import { compileLaunch } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { buildEnvironment, SESSION_MARKER } from '@agentproto/subprocess'
import type { AgentHost } from '../agent-host.js'
import { searchPath } from '../launch/agent-environment.js'
import { confineAgent } from '../launch/confine-agent.js'
import { DEFAULT_CLIENT } from '../launch/launch-agent.js'
import { requireAgent } from '../launch/locate-agent.js'
import { cancelled, OBSERVATION_LIMITS, observeLaunch } from './observe-launch.js'
import { inScratchFolder, type ScratchFolder, scratchVariables } from './scratch-folder.js'

export interface ObserveAgent {
  /** Its agent is installed, or on PATH. */
  readonly adapter: LoadedAgentCli
  /** Whose installed agent it is. */
  readonly host: AgentHost
  readonly limits?: Partial<ArmLimits>
  readonly signal: AbortSignal
}

/**
 * Starts an ACP agent as a session would, but in an empty folder, with an empty home and without the user's keys; asks what
 * it offers, opens a session, and ends it with everything that it started. It is sent no prompt, and nothing of it stays.
 * @throws `agent_not_installed`, `sandbox_unavailable`, `protocol_unsupported`, `spawn_failed`, `handshake_failed`, `timeout`,
 * `cancelled`
 */
export async function observeAgent({ adapter, host, limits, signal }: ObserveAgent): Promise<AgentObservation> {
  const { manifest } = adapter
  if (manifest.protocol !== 'acp')
    throw new AgentprotoError('protocol_unsupported', 'Only agents that speak ACP can be observed', {
      expected: 'protocol: acp',
      given: manifest.protocol,
    })
  const { command, args } = await requireAgent(manifest, host)
  const compiled = compileLaunch(manifest)
  const clock = host.clock ?? systemClock
  const observation = await inScratchFolder(clock, async (scratch) => {
    const env = environmentOf(adapter, { host, scratch, chosen: compiled.env })
    const launch = { command, args: [...args, ...compiled.args], cwd: scratch.work, env, marker: scratch.marker }
    const additionalDirectories = [scratch.home, scratch.temporary]
    const confined = await confineAgent({ launch, adapter, host, additionalDirectories, clock, signal })
    try {
      return await observeLaunch({
        launch: confined.launch,
        scratch,
        limits: { ...OBSERVATION_LIMITS, ...host.limits, ...limits },
        clock,
        signal,
        client: host.client ?? DEFAULT_CLIENT,
      })
    } finally {
      await confined.release()
    }
  })
  // Also when it was cancelled while the last of it was ended and removed: its result is not waited for any more.
  if (signal.aborted) throw cancelled()
  return observation
}

interface Environment {
  readonly host: AgentHost
  readonly scratch: ScratchFolder
  /** By the defaults of the manifest. */
  readonly chosen: Readonly<Record<string, string>>
}

/** What every program needs, the proxies, and what the manifest sets. A key, or a folder of the user's, could be in any other. */
function environmentOf({ manifest, sandbox }: LoadedAgentCli, { host, scratch, chosen }: Environment) {
  return buildEnvironment({
    policy: 'isolated',
    parent: { ...host.env, PATH: searchPath(host) },
    passthrough: PROXIES,
    declared: { ...sandbox.env.set, ...chosen, ...scratchVariables(scratch, manifest) },
    injected: { [SESSION_MARKER]: scratch.marker },
  })
}

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()])
