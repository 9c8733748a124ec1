import { existsSync } from 'node:fs'
import { AgentprotoError, settlesWithin, systemClock } from '@agentproto/contracts'
import { type KeptAgent, sessionKeyOf, turnKeyOf } from '@agentproto/contracts/agent'
import type { SharedProcesses } from '@agentproto/driver-agent-cli'
import type { HomeKeeper, ListedAgent } from '@agentproto/keeper'
import type { HomeLock } from '@agentproto/server'
import type { SessionService } from '@agentproto/contracts/wire'
import { endProcesses, findMarkedProcesses, identify } from '@agentproto/subprocess'
import { leftFleet } from './left-fleet.js'
import type { Settings } from './settings.js'

/**
 * The process that holds the pipes of a home's agents; undefined where there is none: then agents end with the gateway.
 * @throws `keeper_unavailable` when one of another wire holds agents: a gateway without it would end them
 */
export async function openAgentKeeper(
  settings: Settings,
  { lock, onProblem }: KeeperHost,
): Promise<HomeKeeper | undefined> {
  const { keeper, inMemory, store, layout, clock, fleet } = settings
  // The next gateway finds the agents by the records of their sessions.
  if (inMemory || typeof store === 'object') return undefined
  // What an earlier gateway with a keeper has left would wait for a day.
  if (!keeper.enabled) await endAllKept(layout.keeper)
  if (!keeper.enabled) return undefined
  const { openKeeper, speaksOtherWire } = await import('@agentproto/keeper')
  try {
    const hasHome = (): boolean => lock?.isHeld() === true
    const opened = await openKeeper({ folder: layout.keeper, orphanMs: keeper.orphanMs, clock, hasHome, onProblem })
    // That of an earlier gateway, of a fleet. Where its home still names one, see `endMovable`.
    if (fleet === undefined && leftFleet(settings) === undefined) await opened.guard({ markers: [], ms: 0, graceMs: 0 })
    return opened
  } catch (thrown) {
    if (speaksOtherWire(thrown)) throw thrown
    onProblem(`Agents end with this gateway. ${messageOf(thrown)}`)
    return undefined
  }
}

export interface KeeperHost {
  readonly lock: HomeLock | undefined
  readonly onProblem: (problem: string) => void
}

/**
 * Ends all agents that a keeper holds, and the keeper. Only the process that has the home may call it.
 * @returns how many there were
 * @throws `keeper_unavailable`
 */
export async function endAllKept(folder: string): Promise<number> {
  if (!existsSync(folder)) return 0
  const { connectKeeper } = await import('@agentproto/keeper')
  const keeper = await connectKeeper({ folder, orphanMs: 0 })
  if (keeper === undefined) return 0
  try {
    const sessions = sessionsOf(await keeper.list())
    await Promise.all(sessions.map((key) => forgetAgent(keeper, key)))
    return sessions.length
  } finally {
    await leaveKeeper(keeper)
  }
}

/** A session may have a process for its turn beside its own. */
const sessionsOf = (agents: readonly { readonly key: string }[]): readonly string[] => [
  ...new Set(agents.map(({ key }) => sessionKeyOf(key))),
]

/** Ends an agent of a session that does not go on with it, and what is kept of it: a resume starts another one in its place. */
export async function forgetAgent(keeper: HomeKeeper, sessionId: string): Promise<void> {
  for (const each of [sessionId, turnKeyOf(sessionId)]) await forgetProcess(keeper, each, sessionId)
}

async function forgetProcess(keeper: HomeKeeper, key: string, sessionId: string): Promise<void> {
  const agent = await keeper.adopt(key)
  if (agent === undefined) return
  const recorded = identify(agent.process.pid)?.startTime === agent.process.startTime ? [agent.process] : []
  const marked = findMarkedProcesses(sessionId).filter(({ pid }) => pid !== agent.process.pid)
  await endProcesses([...recorded, ...marked], { termGraceMs: TERM_GRACE_MS })
  // A keeper that is frozen reports neither: it forgets the agent when it goes on.
  await settlesWithin(RELEASE_MS, released(agent), systemClock)
}

async function released(agent: KeptAgent): Promise<void> {
  await Promise.race([agent.exit, agent.lost])
  await agent.release()
}

interface Keeping {
  readonly keeper: HomeKeeper | undefined
  readonly sharedProcesses: Pick<SharedProcesses, 'holds'>
  readonly onProblem: (problem: string) => void
}

/** What a keeper holds; nothing if it cannot say. Never rejects. */
export async function heldAgents(
  keeper: Pick<HomeKeeper, 'list'>,
  onProblem: (problem: string) => void,
): Promise<readonly ListedAgent[]> {
  try {
    return await keeper.list()
  } catch (thrown) {
    onProblem(messageOf(thrown))
    return []
  }
}

/**
 * Ends what an earlier gateway left without a session that goes on with it. Never rejects.
 * @param agents what the keeper held before any agent went on
 */
export async function forgetUnclaimed(
  agents: readonly ListedAgent[],
  sessions: Pick<SessionService, 'get'>,
  { keeper, sharedProcesses, onProblem }: Keeping,
): Promise<void> {
  const isUnclaimed = async (key: string): Promise<boolean> =>
    !(await sharedProcesses.holds(key)) && !(await isClaimed(sessions, key))
  const keys = sessionsOf(agents)
  const claims = await Promise.all(keys.map(isUnclaimed))
  const unclaimed = keys.filter((_, at) => claims[at])
  if (keeper === undefined || unclaimed.length === 0) return
  // The repair of their sessions has ended some of them.
  const held = sessionsOf(await heldAgents(keeper, onProblem))
  for (const key of unclaimed.filter((each) => held.includes(each))) {
    onProblem(`Ended an agent that no session goes on with: ${key}`)
    await forgetAgent(keeper, key).catch((thrown: unknown) => onProblem(messageOf(thrown)))
  }
}

const isClaimed = (sessions: Pick<SessionService, 'get'>, id: string): Promise<boolean> =>
  sessions.get(id).then(
    ({ kept }) => kept === true,
    () => false,
  )

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** How long the keeper may take to forget an agent of which nothing runs, in milliseconds. */
const RELEASE_MS = 5_000
/** From SIGTERM to SIGKILL, in milliseconds. */
const TERM_GRACE_MS = 2_000

/** The gateway ends: a keeper that holds nothing ends too, and any other one waits for the next gateway. */
export async function leaveKeeper(keeper: HomeKeeper): Promise<void> {
  try {
    await answeredAtEnd(keeper.stop())
  } finally {
    keeper.close()
  }
}

/** A keeper that is frozen does not keep its gateway from ending. @throws `keeper_unavailable` */
export async function answeredAtEnd<T>(answer: Promise<T>): Promise<T> {
  if (await settlesWithin(END_MS, answer, systemClock)) return answer
  answer.catch(() => {})
  throw new AgentprotoError('keeper_unavailable', 'The keeper did not answer at the end of the gateway')
}

/** In milliseconds. */
const END_MS = 2_000
