import type { AgentSink, ArmConnectOptions, StartAgentOptions } from '@agentproto/contracts/agent'
import type { SandboxProfile } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { AgentHost } from '../agent-host.js'

export interface LaunchOptions extends StartAgentOptions {
  readonly sink: AgentSink
  readonly host: AgentHost
  /** The sandbox profile, where the manifest has it in a file of its own. */
  readonly sandbox?: SandboxProfile
  /** The manifest as it was read, with what it refers to: its secrets are given to the agent. */
  readonly adapter?: LoadedAgentCli
  /** Further arguments of the agent, after those of the manifest. */
  readonly moreArgs?: readonly string[]
  /** A session that is to be resumed by an agent that cannot is loaded where it can. */
  readonly loadInstead?: boolean
  /** What the host does for the agent; nothing for one that is confined, which would not be then. */
  readonly serve?: NonNullable<ArmConnectOptions['serve']>
}
