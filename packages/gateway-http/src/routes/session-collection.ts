import {
  AgentprotoError,
  listQuerySchema,
  parseWire,
  type Session,
  type SessionFilter,
  spawnAgentSchema,
} from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { agentSpawnSchema } from '../query-schemas.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/sessions` itself: AIP-46 §HTTP surface. */
export function sessionCollectionRoutes({ sessions }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', { GET: async (c) => taggedJson(c, await sessions.list(filterOf(c), c.get('within'))) })
  resource(app, '/agent', {
    POST: async (c) => created(await sessions.spawn(await readBody(c, spawnAgentSchema), callerOf(c))),
  })
  return app
}

/**
 * `/agents/:agent/sessions`: the sessions of one agent, as if there were no others; below it are the routes of
 * `/sessions/:id`.
 */
export function agentSessionRoutes({ sessions, adapters }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  const agentOf = (c: HttpContext): string => param(c, 'agent')

  app.use(async function knownAgent(c, next) {
    await adapters.get(agentOf(c))
    await next()
  })
  app.use('/:id/*', async function ofThatAgent(c, next) {
    const { id, adapterSlug } = await sessions.get(param(c, 'id'))
    if (adapterSlug !== agentOf(c)) throw notOfThatAgent(id, agentOf(c))
    await next()
  })
  resource(app, '/', {
    GET: async (c) => taggedJson(c, await sessions.list({ ...filterOf(c), adapter: agentOf(c) }, c.get('within'))),
    POST: async (c) => {
      const request = await readBody(c, agentSpawnSchema)
      return created(await sessions.spawn({ ...request, adapter: agentOf(c) }, callerOf(c)))
    },
  })
  return app
}

/** The answer that tells of a new session. */
export const created = (session: Session): Response => json(session, 201, { location: `/sessions/${session.id}` })

const filterOf = (c: HttpContext): SessionFilter => parseWire(listQuerySchema, c.req.query(), 'query') as SessionFilter

const notOfThatAgent = (id: string, agent: string): AgentprotoError =>
  new AgentprotoError('session_not_found', `The agent ${agent} has no such session`, {
    given: id,
    hint: 'GET /sessions lists the sessions of all agents',
  })
