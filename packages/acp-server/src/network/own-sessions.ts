import type { EventRecord } from '@agentproto/contracts/agent'
import {
  answerRequestSchema,
  configRequestSchema,
  listQuerySchema,
  parseWire,
  promptRequestSchema,
  toAgentAnswer,
} from '@agentproto/contracts/wire'
import type { AcpSessions, FollowOptions } from '../acp-host.js'
import { eventOf } from '../session-log.js'
import type { CallerAccess } from './caller-access.js'
import type { AcpLimits, EndpointSessions } from './acp-endpoint.js'
import { partsOf } from './record-parts.js'

/** The sessions of this gateway as one caller may use them: every call is checked, and every value parsed as over HTTP. */
export function ownSessions(
  sessions: EndpointSessions,
  access: CallerAccess,
  { pageChars }: Pick<AcpLimits, 'pageChars'>,
): AcpSessions {
  const batches = (id: string, options: FollowOptions): AsyncGenerator<readonly EventRecord[]> =>
    followed(sessions, access, { id, pageChars, ...options })
  return {
    async list(given) {
      access.by('session/list')
      const { agent } = access
      const filter = parseWire(listQuerySchema, given, 'session/list')
      return sessions.list(agent === undefined ? filter : { ...filter, adapter: agent }, access.within('session/list'))
    },
    get: (id) => access.session('session/load', id),
    async prompt(id, request, { trace } = {}) {
      const by = await access.reach('session/prompt', id, trace)
      return sessions.prompt(id, parseWire(promptRequestSchema, request, 'session/prompt'), by)
    },
    async interrupt(id, request) {
      return sessions.interrupt(id, await access.reach('session/cancel', id), request)
    },
    async remove(id) {
      return sessions.forget(id, await access.reach('session/delete', id))
    },
    async *events(id, options) {
      for await (const records of batches(id, options)) yield* records.map(eventOf)
    },
    recordBatches: batches,
    async eventsPage(id, after, limit) {
      await access.reach('session/load', id)
      const { records, gap } = await sessions.events(id, after, limit)
      const [page = []] = partsOf(records, pageChars)
      const nextAfter = page.at(-1)?.seq ?? (gap === undefined ? after : gap.first - 1)
      return { events: page.map(eventOf), nextAfter, ...(gap === undefined ? {} : { gap }) }
    },
    async requests(id) {
      await access.reach('session/load', id)
      return sessions.requests(id)
    },
    async answer(id, requestId, answer) {
      const by = await access.reach('session/request_permission', id)
      const given = toAgentAnswer(parseWire(answerRequestSchema, answer, 'answer'))
      return sessions.answer({ id, requestId }, given, by)
    },
    async configure(id, change) {
      const by = await access.reach('session/set_config_option', id)
      return sessions.configure(id, parseWire(configRequestSchema, change, 'session/set_config_option'), by)
    },
    mayConfigure: (id) => access.reach('session/set_config_option', id),
    async fork(id) {
      return sessions.fork(id, {}, await access.reach('session/fork', id))
    },
  }
}

/** The log of a session by pull: what waits for a slow client waits in the log. */
async function* followed(
  sessions: EndpointSessions,
  access: CallerAccess,
  { id, after, signal, onGap, pageChars }: FollowOptions & { readonly id: string; readonly pageChars: number },
): AsyncGenerator<readonly EventRecord[]> {
  await access.reach('session/load', id)
  const reader = await sessions.follow(id, after)
  try {
    for (;;) {
      const batch = await reader.next(signal)
      if (batch === undefined || signal.aborted) return
      if (batch.gap !== undefined) onGap(batch.gap)
      yield* partsOf(batch.records, pageChars)
    }
  } finally {
    reader.close()
  }
}
