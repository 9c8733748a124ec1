import type {
  AdapterState,
  DoctorCheck,
  DoctorReport,
  ProvisionEvent,
  ProvisionRequest,
} from '@agentproto/contracts/wire'
import type { HttpDeps } from '../http-deps.js'
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

  return {
    'GET /adapters': async () => ({ adapters: await adapters.list() }),
    'POST /adapters': ({ body, by }) => adapters.add(body.source, by),
    'GET /adapters/:slug': ({ params }) => adapters.get(params.slug),
    'DELETE /adapters/:slug': ({ params, by }) => adapters.remove(params.slug, by),
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
    'GET /secrets': async () => ({ secrets: await adapters.secrets() }),
  } satisfies Partial<Handlers>
}

async function lastState(events: AsyncIterable<ProvisionEvent>): Promise<AdapterState> {
  let state: AdapterState | undefined
  for await (const event of events) if (event.type === 'state') ({ state } = event)
  if (state === undefined) throw new Error('The work ended without a state')
  return state
}

async function* eventMessages(events: AsyncIterable<ProvisionEvent>): AsyncGenerator<string> {
  for await (const event of events) yield message(event.type, event)
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
