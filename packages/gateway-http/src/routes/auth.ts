import { AgentprotoError, type BrowserLogin, parseWire } from '@agentproto/contracts'
import { Hono } from 'hono'
import type { HttpApp, HttpContext, HttpEnv } from '../http-deps.js'
import { loginCookie } from '../login-cookie.js'
import { exchangeQuerySchema } from '../query-schemas.js'
import { json } from '../reply.js'
import { resource } from '../resource.js'

/** `/auth/exchange`, where a browser brings a code instead of a token and gets its cookie. */
export function exchangeRoutes(browsers: BrowserLogin): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function exchange(c: HttpContext): Promise<Response> {
    const { code } = parseWire(exchangeQuerySchema, c.req.query(), 'query')
    // Who only looks must not use it up.
    if (c.req.method === 'HEAD') return json({})
    const login = await browsers.exchange(code)
    if (login === undefined) throw refusedCode()
    const { token, name, expiresAt, maxAgeSeconds } = login
    return json({ ok: true, name, expiresAt }, 200, {
      'set-cookie': loginCookie(c, token, maxAgeSeconds),
      'referrer-policy': 'no-referrer',
    })
  }

  resource(app, '/', { GET: exchange })
  return app
}

/** `/auth/code`. */
export function codeRoutes(browsers: BrowserLogin): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', {
    POST: (c) => {
      const { code, expiresAt } = browsers.code(c.get('by'))
      return json({ code, expiresAt, path: `/auth/exchange?code=${code}` }, 201)
    },
  })
  return app
}

const refusedCode = (): AgentprotoError =>
  new AgentprotoError('unauthorized', 'Nobody has this code: it was used, is too old or never was', {
    hint: 'Get another with POST /auth/code',
  })
