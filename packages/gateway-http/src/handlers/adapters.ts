import type {
  AdapterState,
  AddAgentEvent,
  AddedAgent,
  DoctorCheck,
  DoctorReport,
  ProvisionEvent,
  ProvisionRequest,
} from '@agentproto/contracts/wire'
import type { HttpContext, HttpDeps } from '../http-deps.js'
import { wantsEventStream } from '../json-body.js'
import type { Asked, Handlers } from '../route.js'
import { workMessages } from '../streams/sse-messages.js'
import type { Streams } from '../streams/streams.js'

/** `/adapters` and `/secrets`: what can be started, and what installs, sets up and checks its agent. */
export function adapterHandlers({ adapters, signal }: HttpDeps, streams: Streams) {
  /** The work belongs to the agent and not to the request: a client that disconnects changes nothing. */
  const provision =
    (until: ProvisionRequest['until']) =>
    async ({
      c,
      params: { slug },
      body,
      by,
    }: Asked<'POST /adapters/:slug/setup'>): Promise<Response | AdapterState> => {
      await adapters.get(slug)
      const events = adapters.provision(slug, { until, ...body, signal }, by)
      if (!wantsEventStream(c)) return lastState(events)
      return streams.answer(c, async () => workMessages(eventMessages(events)))
    }

  /** A client that disconnects cancels it: nothing is left, and it can be asked again. */
  async function add(
    c: HttpContext,
    start: (signal: AbortSignal) => AsyncIterable<AddAgentEvent>,
  ): Promise<Response | AddedAgent> {
    const leaving = new AbortController()
    const work = start(signal === undefined ? leaving.signal : AbortSignal.any([leaving.signal, signal]))
    if (!wantsEventStream(c)) return lastAdded(work)
    return streams.answer(c, async () => {
      const messages = eventMessages(work)
      // What cannot be added at all is answered with a status of its own.
      const first = await messages.next()
      return workMessages(first.done === true ? messages : beginningWith(first.value, messages), () => leaving.abort())
    })
  }

  return {
    'GET /adapters': async () => ({ adapters: await adapters.list() }),
    'POST /adapters': ({ body, by }) => adapters.add(body.source, by),
    'GET /adapters/:slug': ({ params }) => adapters.get(params.slug),
    'DELETE /adapters/:slug': ({ params, by }) => adapters.remove(params.slug, by),
    'GET /adapters/:slug/icon': async ({ params }): Promise<Response> =>
      new Response(await adapters.icon(params.slug), { headers: ICON }),
    'GET /adapters/:slug/state': ({ params }) => adapters.state(params.slug),
    'POST /adapters/:slug/install': provision('install'),
    'POST /adapters/:slug/setup': provision('setup'),
    'POST /adapters/:slug/login': provision('login'),
    async 'POST /adapters/:slug/doctor'({ c, params: { slug }, body, by }) {
      await adapters.get(slug)
      const leaving = new AbortController()
      const ending = signal === undefined ? leaving.signal : AbortSignal.any([leaving.signal, signal])
      const checks = adapters.doctor(slug, { ...body, signal: ending }, by)
      if (!wantsEventStream(c)) return reportOf(slug, checks)
      return streams.answer(c, async () => workMessages(checkMessages(slug, checks), () => leaving.abort()))
    },
    'POST /adapters/:slug/update': ({ c, params: { slug }, body, by }) =>
      add(c, (ending) => adapters.update(slug, { ...body, signal: ending }, by)),
    'GET /registry/agents': ({ c, query }) => adapters.search(query, c.req.raw.signal),
    'GET /registry/agents/:id': ({ c, params: { id }, query }) => adapters.lookUp(id, query, c.req.raw.signal),
    'POST /registry/agents/:id': ({ c, params: { id }, body, by }) =>
      add(c, (ending) => adapters.addAgent(id, { ...body, signal: ending }, by)),
    'GET /registry/updates': ({ c, query }) => adapters.outdated(query, c.req.raw.signal),
    'GET /secrets': async () => ({ secrets: await adapters.secrets() }),
  } satisfies Partial<Handlers>
}

/**
 * It is clean already; opened as a page, it could still do nothing. A browser asks for it again after an hour.
 */
const ICON = {
  'content-type': 'image/svg+xml; charset=utf-8',
  'content-security-policy': "sandbox; default-src 'none'; style-src 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, max-age=3600',
}

async function lastState(events: AsyncIterable<ProvisionEvent>): Promise<AdapterState> {
  let state: AdapterState | undefined
  for await (const event of events) if (event.type === 'state') ({ state } = event)
  if (state === undefined) throw new Error('The work ended without a state')
  return state
}

async function lastAdded(events: AsyncIterable<AddAgentEvent>): Promise<AddedAgent> {
  let added: AddedAgent | undefined
  for await (const event of events) if (event.type === 'added') added = { adapter: event.adapter, state: event.state }
  if (added === undefined) throw new Error('The work ended without an adapter')
  return added
}

async function* eventMessages(events: AsyncIterable<ProvisionEvent | AddAgentEvent>): AsyncGenerator<string> {
  for await (const event of events) yield message(event.type, event)
}

async function* beginningWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first
  yield* rest
}

/** A report without its checks is the last message, so that a reader knows that there are no more. */
async function* checkMessages(slug: string, checks: AsyncIterable<DoctorCheck>): AsyncGenerator<string> {
  let ok = true
  for await (const check of checks) {
    ok &&= check.verdict !== 'fail'
    yield message('check', check)
  }
  yield message('report', { slug, ok })
}

const message = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

async function reportOf(slug: string, findings: AsyncIterable<DoctorCheck>): Promise<DoctorReport> {
  const checks: DoctorCheck[] = []
  for await (const check of findings) checks.push(check)
  return { slug, ok: checks.every(({ verdict }) => verdict !== 'fail'), checks }
}
