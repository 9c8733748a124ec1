import { isLive, toAgentprotoError } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import type { LogItem } from '../log/log-gap.js'
import { UnheardAnswers } from '../permissions/unheard-answers.js'
import type { SessionHost } from '../session-host.js'
import type { SessionHandle } from '../session/session-handle.js'
import { eventsFrom } from '../turns/turn-log.js'
import { recoverUsage, type UsageRecovery } from '../usage/recover-usage.js'
import { endAll } from './end-all.js'
import { failureOf, messageOf } from './ending.js'
import { MOVED } from './moved.js'
import { Gathering, type Place } from './gathering.js'
import { Pace } from './pace.js'

export interface RepairHost extends Pick<
  SessionHost,
  'adoptAgent' | 'onAdoption' | 'onAdopted' | 'endLeftovers' | 'onProblem' | 'ledger' | 'keep'
> {
  readonly sessions: UsageRecovery['sessions']
}

/**
 * Goes on after a host that is gone: with the agents that outlived it; the other sessions that it left live are repaired. What
 * the host had not counted of any session is counted.
 */
export async function goOnAfter(all: readonly StoredSession[], host: RepairHost): Promise<void> {
  const stored = all.filter(({ session, starting }) => isLive(session) || starting)
  const pace = new Pace()
  const left = await Promise.all(stored.map((each) => readAgain(each, host, pace)))
  // A budget that sessions share may have been added up while the record of one of them was behind its log.
  for (const { session } of left) host.ledger.release(session)
  // Nothing is ended before: what one session left may be in the process tree of another one's agent.
  // What one agent has written is not read before: it would delay the others, and the gateway.
  const gathering = new Gathering(left.length)
  const isAdopted = await Promise.all(left.map((each) => adopt(each, host, gathering.place())))
  await host.onAdopted?.()
  for (const each of left.filter((_, at) => isAdopted[at] === false))
    if (await repair(each, host)) await host.keep(each.session)
  await endOrphans(left, host)
  await recoverUsage(all, host)
}

/** A session that the host left live. */
interface Left {
  readonly stored: StoredSession
  readonly session: SessionHandle
  /** Answers that its agent may not have received. */
  readonly answers: UnheardAnswers
  /** Its log could not be read. */
  readonly failure?: unknown
}

async function readAgain(stored: StoredSession, { sessions, ledger }: RepairHost, pace: Pace): Promise<Left> {
  const session = sessions.get(stored.session.id)
  const answers = new UnheardAnswers()
  const events = (from: number): AsyncIterable<LogItem> => pace.of(eventsFrom(session, from))
  const open = stored.turns.find(({ state }) => state === 'running')
  try {
    await catchUp(session, events(open?.firstSeq ?? stored.session.lastSeq + 1), answers)
    await ledger.recover(session, () => events(1))
    return { stored, session, answers }
  } catch (failure) {
    return { stored, session, answers, failure }
  }
}

/** Goes on with the agent of a session. @returns whether that was possible; what stands against it is reported */
async function adopt(left: Left, { adoptAgent, onAdoption, onProblem }: RepairHost, place: Place): Promise<boolean> {
  const { session } = left
  try {
    if (adoptAgent === undefined || !isKept(left)) return false
    await session.call('adopt', { place })
    onAdoption?.()
    return true
  } catch (error) {
    onAdoption?.(toAgentprotoError(error).code)
    onProblem(`The agent of session ${session.id} could not be taken over: ${messageOf(error)}`)
    return false
  } finally {
    void place()
  }
}

const isKept = ({ stored, session, failure }: Left): boolean =>
  stored.kept !== undefined &&
  failure === undefined &&
  session.state.session.status === 'running' &&
  session.state.session.movedTo === undefined

/** Repairs a session, after its processes were ended. @returns whether that was possible */
async function repair(left: Left, { endLeftovers, onProblem }: RepairHost): Promise<boolean> {
  const { stored, session } = left
  try {
    await endLeftovers?.(stored)
    if (!('failure' in left)) {
      await left.answers.keep(session.permissions, stored.session)
      await repairInterrupted(session, stored)
      return true
    }
    onProblem(notRepaired(session.id, left.failure))
  } catch (error) {
    onProblem(notRepaired(session.id, error))
  }
  return false
}

const notRepaired = (id: string, error: unknown): string => `Session ${id} could not be repaired: ${messageOf(error)}`

/** A session that an agent started ends with the session of that agent. */
async function endOrphans(left: readonly Left[], { sessions, onProblem }: RepairHost): Promise<void> {
  const orphans = left.filter(({ stored, session }) => {
    const { parentSessionId: parent } = stored.session
    return session.isLive && parent !== undefined && !isLiveIn(sessions, parent)
  })
  const problems = await endAll(
    orphans.map(({ session }) => session),
    'shutdown',
  )
  for (const problem of problems) onProblem(problem)
}

/** A parent that was deleted lives no more. */
function isLiveIn(sessions: RepairHost['sessions'], id: string): boolean {
  try {
    return sessions.get(id).isLive
  } catch {
    return false
  }
}

/** The log is completed by appending, never by rewriting (failure mode 60). */
async function repairInterrupted(session: SessionHandle, stored: StoredSession): Promise<void> {
  const { status, movedTo } = session.state.session
  // The end may have been logged, and only the record not saved.
  if (!isLive({ status })) return
  const isResume = status === 'starting' && stored.starting === true
  // A gateway that ends during a resume says nothing about the session: it sleeps on.
  const hasStarted = status !== 'starting' || isResume
  const detail = isResume ? ENDED.duringResume : hasStarted ? ENDED.active : ENDED.beforeStart
  const failure = failureOf(hasStarted ? 'process_exit' : 'startup_failure', detail)
  const crashed = { status: 'error', stopReason: hasStarted ? 'agent_crashed' : 'error', failure } as const
  const ending = movedTo === undefined ? crashed : MOVED
  await session.post({ type: 'repair', detail, ending })
  session.log.settle()
}

const ENDED = {
  active: 'The gateway ended while the session was active',
  duringResume: 'The gateway ended while the session was being resumed',
  beforeStart: 'The gateway ended before the session had started',
}

/** The record catches up with the log, which is never behind it (failure mode 11). */
async function catchUp(session: SessionHandle, events: AsyncIterable<LogItem>, answers: UnheardAnswers): Promise<void> {
  for await (const event of events) {
    if (event.type === 'gap') continue
    await session.post({ type: 'replayed', event })
    session.turns.effective([event])
    session.permissions.replay(event)
    answers.follow(event)
  }
}
