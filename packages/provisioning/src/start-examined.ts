import { randomId } from '@agentproto/contracts'
import type { AgentSink, RunningAgent, SessionOrigin } from '@agentproto/contracts/agent'
import { launchAgent } from '@agentproto/driver-agent-cli'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { ProvisionHost } from './provision-host.js'

export interface Examined {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  readonly signal: AbortSignal
}

export interface ExaminedStart {
  readonly cwd: string
  readonly origin: SessionOrigin
  readonly sink: AgentSink
  /** Default: a new one. */
  readonly sessionId?: string
}

/** Starts an agent as a session would, for an examination. @throws as `launchAgent` */
export const startExamined = (
  { adapter, host, signal }: Examined,
  { sessionId = randomId('ses_'), ...start }: ExaminedStart,
): Promise<RunningAgent> =>
  launchAgent(adapter.manifest, {
    sessionId,
    adapterSlug: adapter.manifest.id,
    adapter,
    sandbox: adapter.sandbox,
    additionalDirectories: [],
    mcpServers: [],
    env: {},
    signal,
    host,
    ...start,
  })
