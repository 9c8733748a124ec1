import {
  type AgentInfo,
  AgentprotoError,
  asRecord,
  defined,
  isAgentprotoError,
  systemClock,
} from '@agentproto/contracts'
import {
  type AgentSink,
  type ArmConnection,
  type ArmConnectOptions,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type OpenSessionOptions,
  type ProtocolArm,
  type RunningAgent,
  type SessionOrigin,
} from '@agentproto/contracts/agent'
import type { AgentCliManifest } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { endProcesses, findMarkedProcesses } from '@agentproto/subprocess'
import { agentEnvironment } from './agent-environment.js'
import { confineAgent } from './confine-agent.js'
import { endsWithGateway, hostFacts, type LaunchFacts, mayKeep, sharedProcessesFor } from './keep-agent.js'
import { leaving } from './left-agent.js'
import { guardLaunch } from './launch-guard.js'
import type { LaunchOptions } from './launch-options.js'
import { type LaunchPlan, planLaunch } from './launch-plan.js'
import { requireAgent } from './locate-agent.js'
import { manifestHint } from './manifest-hint.js'
import { loadArm } from './load-arm.js'
import { StartedAgent } from './running-agent.js'
import type { SharedProcesses } from './shared-process.js'
import { TimeLimit } from './time-limit.js'
import { checkedDirectories } from './working-directories.js'

export const DEFAULT_CLIENT = { name: 'agentproto', version: '0.1.0' }
const NOT_LAUNCHED = { command: '', args: [] }

/**
 * Starts the agent of a manifest and opens its session (AIP-45 lifecycle). Rejects only after everything that was spawned
 * has ended.
 * @throws `mode_unknown`, `option_invalid`, `protocol_unsupported`, `cwd_invalid`, `agent_not_installed`,
 * `setup_required`, `sandbox_unavailable`, `sandbox_read_only` before the spawn; `spawn_failed`, `handshake_failed`,
 * `auth_required`, `not_resumable`, `timeout`, `cancelled` after it
 */
export async function launchAgent(manifest: AgentCliManifest, options: LaunchOptions): Promise<RunningAgent> {
  const prepared = await prepareLaunch(manifest, options)
  try {
    return await inTurn(manifest, options, () => openAgent(prepared, manifest, options))
  } catch (thrown) {
    await prepared.confined.release()
    throw await prepared.guard.failure(thrown)
  }
}

/** Some agents prepare their home at their first start, and fail when two do so at once. */
function inTurn<T>(
  manifest: AgentCliManifest,
  { host: { firstStarts }, signal }: LaunchOptions,
  start: () => Promise<T>,
): Promise<T> {
  const isAlone = firstStarts !== undefined && manifestHint(manifest, 'first_start') === 'alone'
  return isAlone ? firstStarts.run(manifest.id, start, signal) : start()
}

type PreparedLaunch = Awaited<ReturnType<typeof prepareLaunch>>

/** One check after the other, so that a launch that is wrong twice always fails the same way. */
async function prepareLaunch(manifest: AgentCliManifest, options: LaunchOptions) {
  const { host, signal } = options
  const clock = host.clock ?? systemClock
  const plan = planLaunch(manifest, options)
  const { arm, starts, profile, endpoint } = await loadArm(manifest, { ...options, origin: plan.origin })
  const directories = checkedDirectories(options)
  const { command, args } =
    starts === undefined ? NOT_LAUNCHED : await requireAgent({ ...manifest, bin: starts.bin }, host)
  const adapter = options.adapter ?? bare(manifest, options)
  const { env: chosen } = plan.compiled
  const guard = await guardLaunch({ host, adapter, workspace: options.workspaceSlug, chosen, env: options.env, signal })
  const env = agentEnvironment(manifest, host, { ...options, compiled: plan.compiled, provided: guard.env })
  guard.learn(env)
  const own = [...args, ...(starts?.args ?? []), ...plan.args]
  const launch = { command, args: own, ...directories, env, marker: options.sessionId }
  const parts = defined({ repository: options.repository })
  const confined = await confineAgent({ launch, adapter, host, clock, signal, ...directories, ...parts })
  const connecting: ArmConnectOptions = {
    launch: confined.launch,
    limits: { ...DEFAULT_ARM_LIMITS, ...host.limits },
    clock,
    signal,
    client: host.client ?? DEFAULT_CLIENT,
    serve: confined.plain ? (options.serve ?? {}) : {},
    ...defined({ profile: endpoint ? { ...asRecord(profile), endpoint: guard.endpoint(endpoint) } : profile }),
  }
  const { timeoutMs } = adapter.sandbox.limits
  const limit = timeoutMs === undefined ? undefined : new TimeLimit(timeoutMs, host, { clock })
  const { endsWithHost } = options
  const keeping = mayKeep({ manifest, host, arm, isLaunched: starts !== undefined, confined, endsWithHost })
  return { plan, keeping, arm, directories, guard, confined, connecting, limit, clock }
}

async function openAgent(
  prepared: PreparedLaunch,
  manifest: AgentCliManifest,
  options: LaunchOptions,
): Promise<RunningAgent> {
  const { plan, directories, guard, confined, limit, clock } = prepared
  const { signal, mcpServers, trace } = options
  const { connection, isKept, warnings } = await connect(prepared, manifest, options)
  const origin = reachable(plan.origin, options, connection.info)
  const opening = { ...directories, mcpServers, origin, ...defined({ meta: plan.meta, trace }) }
  const redacted = guard.sink(options.sink)
  const sink = limit?.sink(redacted) ?? redacted
  const session = await openOrClose(connection, { opening, mode: plan.mode, sink, signal })
  const ended = limit?.start(connection, sink) ?? connection.ended
  return new StartedAgent(connection, session, {
    guard,
    info: guard.info(connection.info),
    ended: ended.then((end) => guard.end(end)),
    clock,
    sandbox: confined.sandbox,
    instructed: plan.instructed,
    kept: isKept,
    warnings,
    release: () => {
      limit?.cancel()
      return confined.release()
    },
  })
}

interface Connected {
  readonly connection: ArmConnection
  readonly isKept: boolean
  /** Of the launch. */
  readonly warnings: readonly string[]
}

const SHARED_UNKEPT = 'it shares a process that was started without its keeper'

/** With the keeper where the agent may be kept. A keeper that cannot be reached costs no start. */
async function connect(
  { plan, arm, guard, confined, connecting, keeping, limit, clock }: PreparedLaunch,
  manifest: AgentCliManifest,
  { host, sessionId, endsWithHost }: LaunchOptions,
): Promise<Connected> {
  const warnings = [...guard.warnings, ...confined.warnings, ...keeping.warnings]
  // A process that others share may be kept for them.
  const isAlone = endsWithHost !== undefined
  const connectBy = connector(isAlone ? undefined : sharedProcessesFor({ manifest, host, confined }), arm)
  if (!keeping.isKept || !host.keeper) return { ...(await connectBy(connecting)), warnings }
  const facts: LaunchFacts = {
    sandbox: confined.sandbox,
    isPlain: confined.plain,
    held: confined.kept?.facts,
    isInstructed: plan.instructed,
    warnings,
    startedAt: clock.now(),
    timeoutMs: limit?.ms,
  }
  try {
    const leave = (): void => {
      limit?.cancel()
      void confined.kept?.leave()
    }
    const keep = { keeper: leaving(host.keeper, leave), key: sessionId, host: hostFacts(facts) }
    const connected = await connectBy({ ...connecting, keep })
    const more = connected.isKept ? [] : [endsWithGateway(connected.connection.endsWithHost ?? SHARED_UNKEPT)]
    return { ...connected, warnings: [...warnings, ...more] }
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'keeper_unavailable') throw thrown
    // It may have been lost after the spawn.
    await endProcesses(findMarkedProcesses(sessionId), connecting.limits, clock)
    const reason = `${endsWithGateway('its keeper cannot be reached')} ${thrown.message}`
    return { ...(await connectBy(connecting)), isKept: false, warnings: [...warnings, reason] }
  }
}

/** Connects to a process of its own, or to one that agents of this kind share. */
const connector =
  (shared: SharedProcesses | undefined, arm: ProtocolArm) =>
  async (connecting: ArmConnectOptions): Promise<Omit<Connected, 'warnings'>> => {
    if (!shared) {
      const connection = await arm.connect(connecting)
      return { connection, isKept: connecting.keep !== undefined && connection.endsWithHost === undefined }
    }
    const connection = await shared.connect(arm, connecting)
    return { connection, isKept: connection.isKept && connecting.keep !== undefined }
  }

function reachable(origin: SessionOrigin, { loadInstead }: LaunchOptions, { capabilities }: AgentInfo): SessionOrigin {
  const unable = origin.how === 'resume' && !capabilities.resume && capabilities.load
  return loadInstead && unable ? { ...origin, how: 'load' } : origin
}

/** An adapter without files: its manifest refers to none, or the caller has read them. */
export function bare(manifest: AgentCliManifest, { sandbox }: LaunchOptions): LoadedAgentCli {
  const isWhole = manifest.sandbox.from === 'inline' && manifest.runner?.from !== 'file'
  const profile = sandbox ?? (isWhole ? manifest.sandbox.profile : undefined)
  if (profile !== undefined) return { path: '', directory: '', manifest, sandbox: profile }
  throw new AgentprotoError(
    'sandbox_unavailable',
    'The SANDBOX.md or RUNNER.md that the manifest refers to was not read',
    {
      hint: 'Use `loadAgentCli`, which reads it, or give the profile.',
    },
  )
}

interface Opening extends Pick<LaunchPlan, 'mode'> {
  readonly opening: OpenSessionOptions
  readonly sink: AgentSink
  readonly signal: AbortSignal
}

async function openOrClose(connection: ArmConnection, { opening, mode, sink, signal }: Opening): Promise<ArmSession> {
  // Closing rejects whatever waits for the agent.
  const abort = (): void => void connection.close().catch(() => {})
  signal.addEventListener('abort', abort, { once: true })
  try {
    if (signal.aborted) throw cancelled()
    const session = await connection.openSession(opening, sink)
    // A session in another mode than the requested one must not start: it may be allowed more.
    if (mode !== undefined) await session.configure({ mode })
    if (signal.aborted) throw cancelled()
    return session
  } catch (thrown) {
    await connection.close()
    throw signal.aborted ? cancelled() : thrown
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', 'The start of the agent was cancelled')
