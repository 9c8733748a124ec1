import {
  addAdapterSchema,
  type DoctorCheck,
  doctorRequestSchema,
  type ProvisionEvent,
  provisionRequestSchema,
  type ProvisionRequest,
} from '@agentproto/contracts'
import { Hono } from 'hono'
import { wantsEventStream } from '../accept.js'
import { callerOf } from '../caller.js'
import { given } from '../given.js'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'
import { workMessages } from '../sse-messages.js'
import type { Streams } from '../streams.js'

/** `/adapters`: what can be spawned, and what brings its agent to where it can be. */
export function adapterRoutes({ adapters, signal }: HttpDeps, streams: Streams): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function add(c: HttpContext): Promise<Response> {
    const { source } = await readBody(c, addAdapterSchema)
    const added = await adapters.add(source, callerOf(c))
    return json(added, 201, { location: `/adapters/${encodeURIComponent(added.slug)}` })
  }

  /** Belongs to the agent and not to the request: a client that goes away changes nothing. */
  const provision = (until: ProvisionRequest['until']) =>
    async function provisionAgent(c: HttpContext): Promise<Response> {
      const slug = param(c, 'slug')
      const request = await readBody(c, provisionRequestSchema)
      await adapters.get(slug)
      const events = adapters.provision(slug, { until, ...given(request), ...given({ signal }) }, callerOf(c))
      if (!wantsEventStream(c)) return json(await lastState(events))
      return streams.answer(c, () => Promise.resolve(workMessages(eventMessages(events))))
    }

  async function examine(c: HttpContext): Promise<Response> {
    const slug = param(c, 'slug')
    const request = await readBody(c, doctorRequestSchema)
    await adapters.get(slug)
    const leaving = new AbortController()
    const ending = signal === undefined ? leaving.signal : AbortSignal.any([leaving.signal, signal])
    const checks = adapters.doctor(slug, { ...given(request), signal: ending }, callerOf(c))
    if (!wantsEventStream(c)) return json(await report(slug, checks))
    return streams.answer(c, () => Promise.resolve(workMessages(checkMessages(slug, checks), () => leaving.abort())))
  }

  resource(app, '/', { GET: async (c) => taggedJson(c, { adapters: await adapters.list() }), POST: add })
  resource(app, '/:slug', { GET: async (c) => json(await adapters.get(param(c, 'slug'))) })
  resource(app, '/:slug/state', { GET: async (c) => json(await adapters.state(param(c, 'slug'))) })
  resource(app, '/:slug/install', { POST: provision('install') })
  resource(app, '/:slug/setup', { POST: provision('setup') })
  resource(app, '/:slug/login', { POST: provision('login') })
  resource(app, '/:slug/doctor', { POST: examine })
  return app
}

/** `/secrets`: which there are and which are set. No route returns a value. */
export function secretRoutes({ adapters }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', { GET: async (c) => taggedJson(c, { secrets: await adapters.secrets() }) })
  return app
}

async function lastState(events: AsyncIterable<ProvisionEvent>): Promise<unknown> {
  let state: unknown
  for await (const event of events) if (event.type === 'state') state = event.state
  return state
}

async function* eventMessages(events: AsyncIterable<ProvisionEvent>): AsyncGenerator<string> {
  for await (const event of events) yield message(event.type, event)
}

/** A report without its checks comes last, so that a reader knows that there are no more. */
async function* checkMessages(slug: string, checks: AsyncIterable<DoctorCheck>): AsyncGenerator<string> {
  let ok = true
  for await (const check of checks) {
    ok &&= check.verdict !== 'fail'
    yield message('check', check)
  }
  yield message('report', { slug, ok })
}

const message = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

async function report(slug: string, findings: AsyncIterable<DoctorCheck>): Promise<unknown> {
  const checks: DoctorCheck[] = []
  for await (const check of findings) checks.push(check)
  return { slug, ok: checks.every(({ verdict }) => verdict !== 'fail'), checks }
}
