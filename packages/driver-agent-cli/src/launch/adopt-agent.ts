import { type Clock, defined, isAgentprotoError, systemClock } from '@agentproto/contracts'
import {
  type AdoptAgentOptions,
  type AdoptedAgent,
  type AdoptedSession,
  type AgentProcessInfo,
  type AgentSink,
  type ArmAdoptOptions,
  type ArmConnection,
  DEFAULT_ARM_LIMITS,
  type KeptAgent,
  type Launch,
  readKeptFacts,
  type RunningTurn,
} from '@agentproto/contracts/agent'
import type { AgentCliManifest } from '@agentproto/manifest'
import type { HeldSandbox } from '@agentproto/sandbox'
import { environmentOf } from '@agentproto/subprocess'
import { agentEnvironment } from './agent-environment.js'
import { holdSandboxAgain } from './confine-agent.js'
import { type LaunchFacts, readLaunchFacts } from './keep-agent.js'
import { bare, DEFAULT_CLIENT } from './launch-agent.js'
import { onLeft } from './left-agent.js'
import { guardAdopted, type LaunchGuard } from './launch-guard.js'
import type { LaunchOptions } from './launch-options.js'
import { planLaunch } from './launch-plan.js'
import { loadArm } from './load-arm.js'
import { notAdoptable } from './not-adoptable.js'
import { StartedAgent, type StartedAgentOptions } from './running-agent.js'
import { TimeLimit } from './time-limit.js'

/**
 * Goes on with the agent of a session that an earlier host has launched with a keeper. Nothing is spawned or checked again, and of
 * its sandbox is opened what only a host can hold; `origin` is of no account. A rejection leaves the agent running.
 * @returns undefined when no agent of the session is kept
 * @throws `not_adoptable`, `keeper_unavailable`, `protocol_unsupported`
 */
export async function adoptAgent(manifest: AgentCliManifest, options: AdoptOptions): Promise<AdoptedAgent | undefined> {
  const found = await find(manifest, options)
  if (!found) return undefined
  const { agent, facts, guard, clock, adopt } = found
  const limit = timeLimit(facts, options, clock)
  const redacted = guard.sink(options.sink)
  const sink = limit?.sink(redacted) ?? redacted
  const held = await holdAgain(facts, options, clock)
  const leave = async (): Promise<void> => {
    limit?.cancel()
    await held?.leave()
  }
  const { connection, session } = await adopt(sink).catch(async (thrown: unknown) => {
    await leave()
    throw thrown
  })
  void onLeft(agent, () => void leave())
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const ended = limit ? begun.then(() => limit.start(connection, sink)) : connection.ended
  return new TakenOverAgent(connection, session, {
    begin,
    guard,
    info: guard.info(connection.info),
    ended: ended.then((end) => guard.end(end)),
    clock,
    sandbox: facts.sandbox,
    instructed: facts.isInstructed,
    kept: true,
    warnings: [...facts.warnings, ...(held?.warnings ?? [])],
    release: async () => {
      limit?.cancel()
      await held?.release()
    },
  })
}

/** Before anything is read: the agent must not go on without what confines it. */
async function holdAgain(
  { held }: LaunchFacts,
  { host, sessionId, signal }: LaunchOptions,
  clock: Clock,
): Promise<HeldSandbox | undefined> {
  if (held === undefined) return undefined
  try {
    return await holdSandboxAgain(held, { host, sessionId, clock, signal })
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'sandbox_unavailable') throw thrown
    throw notAdoptable(`its sandbox cannot be held again. ${thrown.message}`)
  }
}

type AdoptOptions = LaunchOptions & Pick<AdoptAgentOptions, 'process'>

/** What an earlier host has left of the session. */
interface Found {
  readonly agent: Pick<KeptAgent, 'lost'>
  readonly facts: LaunchFacts
  readonly guard: LaunchGuard
  readonly clock: Clock
  readonly adopt: (sink: AgentSink) => Promise<{ connection: ArmConnection; session: AdoptedSession }>
}

function find(manifest: AgentCliManifest, options: AdoptOptions): Promise<Found | undefined> {
  const { process } = options
  const { marker } = process ?? {}
  if (process && marker !== undefined) return findMember(manifest, { ...options, process, marker })
  return findProcess(manifest, options)
}

/** With a process of its own. */
async function findProcess(manifest: AgentCliManifest, options: AdoptOptions): Promise<Found | undefined> {
  const { sessionId: key, host } = options
  const { keeper } = host
  const agent = await keeper?.adopt(key)
  if (!keeper || !agent) return undefined
  const facts = readLaunchFacts(readKeptFacts(agent.facts)?.host ?? {})
  const { guard, connecting, arm } = await prepareAdoption(manifest, agent.process, options)
  const { adopt } = arm
  if (!adopt) throw notAdoptable(`its protocol, ${arm.protocol}, does not allow it`)
  const serve = facts.isPlain ? connecting.serve : {}
  const taking: ArmAdoptOptions = { ...connecting, serve, agent, keep: { keeper, key } }
  return { agent, facts, guard, clock: connecting.clock, adopt: (sink) => adopt(taking, sink) }
}

/** With a process that several sessions share. */
async function findMember(
  manifest: AgentCliManifest,
  options: AdoptOptions & { readonly process: AgentProcessInfo; readonly marker: string },
): Promise<Found | undefined> {
  const { host, process, marker, sessionId: key, cwd, additionalDirectories } = options
  const { keeper, sharedProcesses } = host
  if (!keeper || !sharedProcesses) return undefined
  const { guard, connecting, arm } = await prepareAdoption(manifest, process, options)
  const member = await sharedProcesses.adopt(arm, { marker, key, keeper, connecting })
  if (!member) return undefined
  const adopt = async (sink: AgentSink) => member.adopt({ cwd, additionalDirectories }, sink)
  return { agent: member, facts: readLaunchFacts(member.host), guard, clock: connecting.clock, adopt }
}

async function prepareAdoption(manifest: AgentCliManifest, process: AgentProcessInfo, options: LaunchOptions) {
  const { host, signal } = options
  const { arm, profile } = await loadArm(manifest, { ...options, origin: { how: 'new' } })
  const adapter = options.adapter ?? bare(manifest, options)
  const guard = await guardAdopted({ host, adapter, workspace: options.workspaceSlug, env: options.env, signal })
  const env = environmentOf(process) ?? expectedEnvironment(manifest, guard, options)
  guard.learn(env)
  const { cwd, additionalDirectories } = options
  const launch: Launch = { command: '', args: [], cwd, additionalDirectories, env, marker: options.sessionId }
  const connecting: Omit<ArmAdoptOptions, 'agent'> & Required<Pick<ArmAdoptOptions, 'serve'>> = {
    launch,
    limits: { ...DEFAULT_ARM_LIMITS, ...host.limits },
    clock: host.clock ?? systemClock,
    signal,
    client: host.client ?? DEFAULT_CLIENT,
    serve: options.serve ?? {},
    ...defined({ profile }),
  }
  return { guard, connecting, arm }
}

/** Where the environment of a process cannot be read: as it would be launched now. */
function expectedEnvironment(
  manifest: AgentCliManifest,
  guard: LaunchGuard,
  options: LaunchOptions,
): Readonly<Record<string, string>> {
  const { compiled } = planLaunch(manifest, { ...options, origin: { how: 'new' } })
  return agentEnvironment(manifest, options.host, { ...options, compiled, provided: guard.env })
}

function timeLimit(
  { timeoutMs, startedAt }: LaunchFacts,
  { host }: LaunchOptions,
  clock: Clock,
): TimeLimit | undefined {
  if (timeoutMs === undefined) return undefined
  return new TimeLimit(timeoutMs, host, { clock, elapsedMs: clock.now() - startedAt })
}

/** An agent that an earlier host has started. */
class TakenOverAgent extends StartedAgent implements AdoptedAgent {
  readonly mark: number
  readonly caughtUp: Promise<void>
  readonly #session: AdoptedSession
  readonly #onBegin: () => void

  constructor(
    connection: ArmConnection,
    session: AdoptedSession,
    { begin, ...options }: StartedAgentOptions & { readonly begin: () => void },
  ) {
    super(connection, session, options)
    this.#session = session
    this.#onBegin = begin
    this.mark = session.mark
    this.caughtUp = session.caughtUp
  }

  begin(): RunningTurn | undefined {
    this.#onBegin()
    const turn = this.#session.begin()
    if (turn) this.goOn(turn.done)
    return turn
  }
}
