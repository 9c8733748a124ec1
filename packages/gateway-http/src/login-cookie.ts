import { AgentprotoError } from '@agentproto/contracts'
import { generateCookie, getCookie } from 'hono/cookie'
import type { HttpContext } from './http-deps.js'
import { isPublic, type PublicAddress } from './public-address.js'
import { rejected } from './rejection.js'

/**
 * The token of a browser is in a cookie that no script can read. The browser also sends it for pages of others, so it only
 * counts for requests of the gateway's own pages.
 */

export interface LoginCookieOptions {
  /** How long the browser keeps it. */
  readonly maxAgeSeconds: number
  readonly address: PublicAddress | undefined
}

/** A proxy ends TLS and takes off its prefix: what the browser sees is in the public address. */
export function loginCookie(c: HttpContext, token: string, { maxAgeSeconds, address }: LoginCookieOptions): string {
  const seen = isPublic(c, address)
    ? { secure: address.isSecure, path: address.prefix }
    : { secure: new URL(c.req.url).protocol === 'https:' }
  return generateCookie(nameFor(c), token, { maxAge: maxAgeSeconds, httpOnly: true, sameSite: 'Strict', ...seen })
}

/** The token of the cookie, if there is one. @throws `origin_not_allowed` if a page of another origin sent it */
export function cookieToken(c: HttpContext): string | undefined {
  const token = getCookie(c, nameFor(c))
  if (token !== undefined) assertOwnPage(c)
  return token
}

/** Cookies ignore ports, so two gateways on one machine use different names. */
function nameFor(c: HttpContext): string {
  const port = /:(\d{1,5})$/.exec(c.req.header('host') ?? '')?.[1]
  return port === undefined ? 'agentproto' : `agentproto_${port}`
}

/** To a browser another port is the same site, and loopback origins may call: neither is enough here. */
function assertOwnPage(c: HttpContext): void {
  const origin = c.req.header('origin')
  const site = c.req.header('sec-fetch-site')
  const reads = c.req.method === 'GET' || c.req.method === 'HEAD'
  const isOwn = origin === undefined ? reads : hostIn(origin) === c.req.header('host')?.toLowerCase()
  if (isOwn && (site === undefined || site === 'same-origin' || (reads && site === 'none'))) return
  const error = new AgentprotoError('origin_not_allowed', 'Only the gateway’s own pages may call with its cookie', {
    expected: 'the gateway’s own Origin',
    given: origin ?? site ?? 'no Origin',
    hint: 'Programs call with a bearer token',
  })
  throw rejected(c, error)
}

const hostIn = (origin: string): string | undefined => /^https?:\/\/([^/?#@\s]+)$/.exec(origin.toLowerCase())?.[1]
