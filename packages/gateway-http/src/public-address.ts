import { AgentprotoError } from '@agentproto/contracts'
import type { HttpContext } from './http-deps.js'

/** Where browsers reach the gateway when a proxy is in front of it. */
export interface PublicAddress {
  /** Whole, without a slash at its end. */
  readonly url: string
  readonly origin: string
  /** As browsers send it: the port is left out where it is the usual one. */
  readonly host: string
  readonly isSecure: boolean
  /** What the proxy takes off before it passes a request on; `/` for nothing. */
  readonly prefix: string
}

/** @throws `invalid_request` for what is no address, or has more than a path */
export function publicAddress(given: string): PublicAddress {
  const url = URL.canParse(given) ? new URL(given) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}${url.pathname}` === url.href
  if (!isPlain)
    throw new AgentprotoError('invalid_request', 'The public address is not valid', {
      expected: 'an address such as https://host.example/agents, without a query, a fragment or a password',
      given,
    })
  const { origin, host, protocol, pathname } = url
  const path = pathname.replace(/\/+$/, '')
  return { url: origin + path, origin, host, isSecure: protocol === 'https:', prefix: path === '' ? '/' : path }
}

/** Whether a request came by the public address: proxies pass the Host header of the browser on. */
export const isPublic = (c: HttpContext, address: PublicAddress | undefined): address is PublicAddress =>
  address !== undefined && c.req.header('host')?.toLowerCase() === address.host
