import { AgentprotoError, isAgentprotoError, type QueuedTurn, type TurnDetail } from '@agentproto/contracts'
import type { SessionService } from '@agentproto/contracts/wire'
import type { Fleet } from './fleet.js'
import { isUnreachable } from './fleet-follow.js'
import { sessionLists } from './fleet-session-lists.js'
import { sessionLogs } from './fleet-session-logs.js'
import { ownerOrLog } from './owner-or-log.js'
import { copied, shown, shownBy } from './shown-session.js'

/** The sessions of all hosts. */
export const sessionsOf = (fleet: Fleet): SessionService => ({
  ...starts(fleet),
  ...acts(fleet),
  ...ends(fleet),
  ...reads(fleet),
  ...sessionLogs(fleet),
  ...sessionLists(fleet),
})

type Part<M extends keyof SessionService> = Pick<SessionService, M>

function starts(fleet: Fleet): Part<'spawn' | 'fork'> {
  const {
    host: self,
    own: { sessions },
    calls,
    owners,
    place,
    endOf,
  } = fleet
  return {
    async spawn(request, by) {
      const host = (await place?.(request, by)) ?? self
      // That host knows its name alone.
      const placed = request.on === undefined ? request : { ...request, on: host }
      if (host === self) return sessions.spawn(placed, by)
      const session = await calls.to(host).value('sessions.spawn', [placed], { by, signal: endOf?.(by) })
      owners.created(session.id, host)
      return session
    },
    async fork(id, request, by) {
      const host = owners.otherOf(id)
      if (host === undefined) return sessions.fork(id, request, by)
      const session = await calls.to(host).value('sessions.fork', [id, request], { by, signal: endOf?.(by) })
      owners.created(session.id, host)
      return shown(fleet, session, host)
    },
  }
}

function acts(fleet: Fleet): Part<'prompt' | 'resume' | 'configure' | 'rename' | 'interrupt' | 'answer'> {
  const { owner } = fleet
  return {
    prompt: (id, request, by) => owner.act('sessions.prompt', [id, request], by),
    resume: (id, request, by) => shownBy(fleet, id, () => owner.act('sessions.resume', [id, request], by)),
    configure: (id, request, by) => shownBy(fleet, id, () => owner.act('sessions.configure', [id, request], by)),
    rename: (id, request, by) => shownBy(fleet, id, () => owner.act('sessions.rename', [id, request], by)),
    interrupt: (id, by, request) => owner.act('sessions.interrupt', [id, request], by),
    answer: (which, answer, by) => owner.act('sessions.answer', [which, answer], by),
  }
}

function ends({ own: { sessions }, owner, owners }: Fleet): Part<'kill' | 'forget'> {
  return {
    async kill(id, by, reason) {
      if (typeof reason !== 'object') return owner.act('sessions.kill', [id, reason], by)
      if (owners.otherOf(id) === undefined) return sessions.kill(id, by, reason)
      throw new AgentprotoError('forbidden', 'A hook ends only sessions of its own host')
    },
    async forget(id, by) {
      const forgotten = await owner.act('sessions.forget', [id], by)
      owners.forgotten(id)
      return forgotten
    },
  }
}

/** Of a session whose host is away the fleet's log is read. */
function reads(fleet: Fleet): Part<'get' | 'waitTurn' | 'turns' | 'turn' | 'output' | 'requests'> {
  const {
    own: { sessions },
    calls,
    owner,
    owners,
    replay,
    view,
  } = fleet
  return {
    async get(id, within) {
      const host = owners.otherShown(id)
      try {
        if (host === undefined) return await sessions.get(id, within)
        if (view.isReachable(host)) return shown(fleet, await calls.to(host).value('sessions.get', [id, within]), host)
      } catch (thrown) {
        if (!isUnreachable(thrown) && !isArriving(fleet, id, thrown)) throw thrown
      }
      const session = copied(fleet, id, within)
      if (session === undefined) throw notFound(id)
      return session
    },
    waitTurn: (id, turn, signal) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.waitTurn', [id, turn], signal),
        inLog: (log) => replay.result(log, turn),
      }),
    turns: (id, query) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.turns', [id, query]),
        inLog: (log) => replay.turns(log, query),
      }),
    turn: (id, turn) =>
      ownerOrLog<TurnDetail | QueuedTurn>(fleet, id, {
        owner: () => owner.read('sessions.turn', [id, turn]),
        inLog: (log) => replay.turn(log, turn),
      }),
    output: (id, lastN) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.output', [id, lastN]),
        inLog: (log) => replay.output(log, lastN),
      }),
    requests: (id) =>
      ownerOrLog(fleet, id, {
        owner: () => owner.read('sessions.requests', [id]),
        inLog: (log) => replay.requests(log),
      }),
  }
}

/** A session that was taken from a lost host, and is not yet whole at the one that took it. */
const isArriving = ({ view }: Fleet, id: string, thrown: unknown): boolean =>
  isAgentprotoError(thrown) && thrown.code === 'session_not_found' && view.session(id)?.session.state === 'unreachable'

const notFound = (id: string): AgentprotoError =>
  new AgentprotoError('session_not_found', 'There is no such session', {
    given: id,
    hint: 'Run `agentproto sessions` to see the ids',
  })
