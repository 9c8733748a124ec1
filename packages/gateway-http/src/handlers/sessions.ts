import { AgentprotoError } from '@agentproto/contracts'
import { toAgentAnswer } from '@agentproto/contracts/wire'
import type { HttpDeps } from '../http-deps.js'
import { textReply, wantsEventStream } from '../json-body.js'
import type { Handlers } from '../route.js'
import { leaving, untilTokenEnds } from '../token-end.js'
import type { Streams } from '../streams/streams.js'
import { turnMessages } from '../streams/turn-messages.js'

/** `/sessions` and `/agents/:agent/sessions`, without the streams (AIP-46 §HTTP surface). */
export function sessionHandlers(deps: HttpDeps, streams: Streams) {
  const { sessions } = deps
  const interrupt: Handlers['POST /sessions/:id/interrupt'] = async ({ params: { id }, body, by }) => ({
    ok: true,
    id,
    ...(await sessions.interrupt(id, by, body)),
  })
  return {
    'GET /sessions': ({ query, within }) => sessions.list(query, within),
    'POST /sessions/agent': ({ body, by }) => sessions.spawn(body, by),
    'GET /sessions/:id': ({ params }) => sessions.get(params.id),
    'PATCH /sessions/:id': ({ params, body, by }) => sessions.rename(params.id, body, by),
    async 'DELETE /sessions/:id'({ params: { id }, by }) {
      return { ok: true, id, ...(await sessions.forget(id, by)) }
    },
    async 'POST /sessions/:id/prompt'({ c, params: { id }, body, by }) {
      if (wantsEventStream(c))
        // The stream is the answer: a host that is asked for the end as well would begin later.
        return streams.answer(c, async () =>
          turnMessages(sessions, id, await sessions.prompt(id, { ...body, wait: false }, by)),
        )
      const { turn, result: known } = await sessions.prompt(id, body, by)
      if (body.wait !== true) return textReply(JSON.stringify({ ok: true, id, turn }), 202)
      // A client that disconnects changes nothing (F1). The signal of the request would only end this wait, and asking for it
      // costs as much as the rest of the request.
      const result = await untilTokenEnds(deps, c, async (ended) => known ?? sessions.waitTurn(id, turn, ended))
      return { ok: true, id, turn, result }
    },
    'POST /sessions/:id/interrupt': interrupt,
    'POST /sessions/:id/cancel': interrupt,
    'POST /sessions/:id/resume': ({ params, body, by }) => sessions.resume(params.id, body, by),
    'POST /sessions/:id/config': ({ params, body, by }) => sessions.configure(params.id, body, by),
    'POST /sessions/:id/fork': ({ params, body, by }) => sessions.fork(params.id, body, by),
    async 'POST /sessions/:id/kill'({ params: { id }, body, by }) {
      const { ok } = await sessions.kill(id, by, body.reason)
      return { ok, id }
    },
    'GET /sessions/:id/output': async ({ params, query }) => ({
      lines: await sessions.output(params.id, query.lastN),
    }),
    async 'GET /sessions/:id/turns'({ params, query }) {
      const turns = await sessions.turns(params.id, query)
      return { turns, nextAfter: turns.at(-1)?.number ?? query.after ?? 0 }
    },
    async 'GET /sessions/:id/turns/:turn'({ c, params: { id, turn }, query: { waitSeconds } }) {
      const number = turnNumber(turn)
      if (waitSeconds === undefined) return sessions.turn(id, number)
      const waitMs = waitSeconds * 1_000
      await untilTokenEnds(deps, c, (ended) => turnEnd(deps, { id, number, waitMs, left: leaving(c, ended) }))
      return sessions.turn(id, number)
    },
    'GET /sessions/:id/requests': async ({ params }) => ({ requests: await sessions.requests(params.id) }),
    'POST /sessions/:id/requests/:requestId': ({ params: { id, requestId }, body, by }) =>
      sessions.answer({ id, requestId }, toAgentAnswer(body), by),
    'GET /agents/:agent/sessions': ({ params, query, within }) =>
      sessions.list({ ...query, adapter: params.agent }, within),
    'POST /agents/:agent/sessions': ({ params, body, by }) => sessions.spawn({ ...body, adapter: params.agent }, by),
    'GET /requests': ({ query, within }) => sessions.waiting(query, within),
  } satisfies Partial<Handlers>
}

interface Waiting {
  readonly id: string
  readonly number: number
  readonly waitMs: number
  /** Aborts when the client has left. */
  readonly left: AbortSignal
}

/** Resolves when the turn has ended or the time is up. */
async function turnEnd(
  { sessions, clock }: Pick<HttpDeps, 'sessions' | 'clock'>,
  { id, number, waitMs, left }: Waiting,
): Promise<void> {
  const over = new AbortController()
  const timer = clock.after(waitMs, () => over.abort())
  try {
    await sessions.waitTurn(id, number, AbortSignal.any([over.signal, left]))
  } catch (thrown) {
    if (!over.signal.aborted) throw thrown
  } finally {
    timer.cancel()
  }
}

/** A turn of a path. What is no number names no turn: a host of the fleet could not even be asked for it. */
function turnNumber(given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new AgentprotoError('turn_not_found', 'There is no such turn', { expected: 'the number of a turn', given })
}
