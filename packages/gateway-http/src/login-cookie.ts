import { AgentprotoError } from '@agentproto/contracts'
import { turnedAway } from './door.js'
import type { HttpContext } from './http-deps.js'

/**
 * The token of a browser: in a cookie that no script reads, where a page would have to keep a bearer token in sight of
 * every script. A browser sends it by itself, also for pages that are not the gateway's: so it counts only for requests
 * that come from the gateway's own.
 */

/** @param token What it stands for @param maxAgeSeconds How long the browser keeps it */
export function loginCookie(c: HttpContext, token: string, maxAgeSeconds: number): string {
  const secure = new URL(c.req.url).protocol === 'https:' ? '; Secure' : ''
  return `${nameFor(c)}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`
}

/**
 * The token of the cookie; undefined where there is none.
 * @throws `origin_not_allowed` where a page of somewhere else had it sent
 */
export function cookieToken(c: HttpContext): string | undefined {
  const cookies = c.req.header('cookie')
  if (cookies === undefined) return undefined
  const own = `${nameFor(c)}=`
  const token = cookies
    .split(/; */)
    .find((each) => each.startsWith(own))
    ?.slice(own.length)
  if (token !== undefined) assertOwnPage(c)
  return token
}

/** Cookies know no ports: those of two gateways on one machine have different names. */
function nameFor(c: HttpContext): string {
  const port = /:(\d{1,5})$/.exec(c.req.header('host') ?? '')?.[1]
  return port === undefined ? 'agentproto' : `agentproto_${port}`
}

/** Another port is the same site to a browser, and a loopback origin may call: neither is enough here. */
function assertOwnPage(c: HttpContext): void {
  const origin = c.req.header('origin')
  const site = c.req.header('sec-fetch-site')
  const reads = c.req.method === 'GET' || c.req.method === 'HEAD'
  const isOwn = origin === undefined ? reads : hostIn(origin) === c.req.header('host')?.toLowerCase()
  if (isOwn && (site === undefined || site === 'same-origin' || (reads && site === 'none'))) return
  const refusal = new AgentprotoError('origin_not_allowed', 'Only the gateway’s own pages may call with its cookie', {
    expected: 'the gateway’s own Origin',
    given: origin ?? site ?? 'no Origin',
    hint: 'Programs call with a bearer token',
  })
  throw turnedAway(c, refusal)
}

const hostIn = (origin: string): string | undefined => /^https?:\/\/([^/?#@\s]+)$/.exec(origin.toLowerCase())?.[1]
