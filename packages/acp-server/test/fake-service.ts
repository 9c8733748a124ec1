import { AgentprotoError, isLive, type Principal, type Session, type SessionEvent } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import type { EndpointSessions } from '@agentproto/acp-server'
import { isWithinBounds, type SessionBounds } from '@agentproto/contracts/wire'
import type { FakeSession, FakeSessions } from './fake-sessions.ts'

/** What a service was called with, and by whom. */
export interface ServiceCall {
  readonly method: string
  readonly by: Principal
  readonly given: unknown
}

/** The fake sessions as the service that the surfaces of a gateway use. */
export function fakeService(fake: FakeSessions, calls: ServiceCall[] = []): EndpointSessions {
  const called = (method: string, by: Principal, given: unknown): void => void calls.push({ method, by, given })
  const find = (id: string): Session | undefined => fake.sessions.get(id)?.snapshot()
  const get = async (id: string, within?: SessionBounds): Promise<Session> => {
    const session = fake.the(id).snapshot()
    if (isWithinBounds(session, within, find)) return session
    throw new AgentprotoError('session_not_found', 'Session not found', { given: id })
  }
  return {
    get,
    async spawn(request, by) {
      called('spawn', by, request)
      const id = `n${fake.sessions.size + 1}`
      const { adapter: adapterSlug, cwd = '/work', workspaceSlug = 'none' } = request
      return fake.add(id, { adapterSlug, cwd, workspaceSlug, ...fake.created }).snapshot()
    },
    async list(filter = {}, within) {
      const all = [...fake.sessions.values()].map((each) => each.snapshot())
      const { adapter } = filter
      return {
        sessions: all.filter(
          (each) => (adapter === undefined || each.adapterSlug === adapter) && isWithinBounds(each, within, find),
        ),
      }
    },
    async prompt(id, request, by) {
      called('prompt', by, request)
      return fake.prompt(id, { prompt: request.prompt, whenBusy: 'queue' })
    },
    async configure(id, change, by) {
      called('configure', by, change)
      return fake.configure(id, change)
    },
    async fork(id, _request, by) {
      called('fork', by, id)
      return fake.fork(id)
    },
    async interrupt(id, by, request = {}) {
      called('interrupt', by, request)
      return fake.interrupt(id, request.turn === undefined ? {} : { turn: request.turn })
    },
    async forget(id, by) {
      called('forget', by, id)
      await fake.remove(id)
      return {}
    },
    async events(id, after, limit) {
      return batch(fake.the(id).log.slice(after, after + limit))
    },
    async follow(id, after) {
      return reader(fake.the(id), after)
    },
    requests: (id) => fake.requests(id),
    async answer({ id, requestId }, answer, by) {
      called('answer', by, answer)
      await fake.answer(id, requestId, answer)
      return fake.the(id).requests.find((each) => each.requestId === requestId) as never
    },
    watch: () => watcher(fake),
  }
}

const batch = (events: readonly SessionEvent[]): EventBatch => ({
  records: events.map((event) => ({ seq: event.seq, type: event.type, json: JSON.stringify(event) })),
})

function reader(
  session: FakeSession,
  from: number,
): ReturnType<EndpointSessions['follow']> extends Promise<infer R> ? R : never {
  let after = from
  session.followers++
  return {
    async next(signal) {
      for (;;) {
        if (signal?.aborted) return undefined
        const events = session.log.slice(after)
        after += events.length
        if (events.length > 0) return batch(events)
        if (!isLive(session.snapshot())) return undefined
        await session.more(signal ?? new AbortController().signal)
      }
    },
    close: () => void session.followers--,
  }
}

function watcher(fake: FakeSessions): ReturnType<EndpointSessions['watch']> {
  const closed = new AbortController()
  const changes = fake.watch({ signal: closed.signal, listed: false, onState: () => undefined })
  return {
    async next(signal) {
      signal?.addEventListener('abort', () => closed.abort(), { once: true })
      const { done, value } = await changes.next()
      return done === true ? undefined : [value]
    },
    close: () => closed.abort(),
  }
}
