import type { SessionOrigin } from '@agentproto/contracts/agent'
import { type AgentCliManifest, type CompiledLaunch, compileLaunch } from '@agentproto/manifest'
import { instructionChannel } from './instruction-channel.js'
import type { LaunchOptions } from './launch-options.js'
import { manifestHint, member } from './manifest-hint.js'
import { nativeResumeArgs } from './native-resume.js'

/** What a launch comes to by its manifest alone. */
export interface LaunchPlan {
  readonly compiled: CompiledLaunch
  /** Arguments after those of the manifest. */
  readonly args: readonly string[]
  /** How the arm is to begin the conversation. */
  readonly origin: SessionOrigin
  /** The agent's own mode to begin in, where it can only be set in an open session. */
  readonly mode: string | undefined
  /** Goes with the requests that open the session. */
  readonly meta: Readonly<Record<string, unknown>> | undefined
  /** The instructions go by a channel of the agent's own. */
  readonly instructed: boolean
}

/** @throws `mode_unknown`, `option_invalid`, `invalid_request` */
export function planLaunch(manifest: AgentCliManifest, options: LaunchOptions): LaunchPlan {
  const { origin, instructions, moreArgs = [] } = options
  const channel = instructionChannel(manifest, instructions)
  const chosen = { ...options.options, ...channel?.options }
  const compiled = compileLaunch(manifest, { ...options, options: chosen })
  const native = origin.how === 'native' ? (nativeResumeArgs(manifest, origin.agentSessionId) ?? []) : []
  return {
    compiled: { ...compiled, env: { ...compiled.env, ...channel?.env } },
    args: [...compiled.args.slice(manifest.binArgs.length), ...(channel?.args ?? []), ...native, ...moreArgs],
    // Its arguments have said which conversation it is.
    origin: origin.how === 'native' ? { how: 'new' } : origin,
    mode: sessionMode(manifest, options.mode),
    meta: channel?.meta,
    instructed: channel !== undefined,
  }
}

/**
 * The agent's own mode that a mode of the manifest stands for, by `metadata.agentproto.session_modes`: for agents
 * that take no flag and no variable for a mode, but change it in an open session. The names of the two differ
 * because AIP-45 allows lower-case ids alone.
 */
function sessionMode(manifest: AgentCliManifest, mode: string | undefined): string | undefined {
  const modes = manifestHint(manifest, 'session_modes')
  const named = mode === undefined ? undefined : member(modes, mode)
  return typeof named === 'string' && named !== '' ? named : undefined
}
