import { AgentprotoError } from '@agentproto/contracts'

/**
 * The address that `AGENTPROTO_URL` names, as people write it: `localhost:7646`, a port alone, with or without `http://`,
 * a trailing slash or a path prefix. Without a scheme, only this machine is called in plain HTTP: elsewhere the token
 * would be readable on the way.
 * @returns without a trailing slash; undefined when it is not set
 * @throws `invalid_request` for what is not the address of a gateway
 */
export function gatewayUrl({ AGENTPROTO_URL: written = '' }: Environment): string | undefined {
  if (written.trim() === '') return undefined
  const url = addressIn(written, ['http:', 'https:'])
  if (url === undefined) throw invalid()
  return url.href.replace(/\/+$/, '')
}

/** An address as people write it, in one of these protocols; undefined for any other text, and with user, `?` or `#`. */
export function addressIn(written: string, protocols: readonly string[]): URL | undefined {
  const url = parsed(withScheme(written.trim()))
  if (url === undefined || !protocols.includes(url.protocol)) return undefined
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '' ? url : undefined
}

/** Whether two addresses name the same port of this machine, by any of its loopback names. */
export function isSameGateway(named: string, known: string | undefined): boolean {
  if (named === known) return true
  const [a, b] = [parsed(named), parsed(known ?? '')]
  if (a === undefined || b === undefined || !isLoopback(a) || !isLoopback(b)) return false
  return a.protocol === b.protocol && a.port === b.port && withoutSlash(a) === withoutSlash(b)
}

type Environment = Readonly<Record<string, string | undefined>>

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

function withScheme(text: string): string {
  if (HAS_SCHEME.test(text)) return text
  if (/^:?\d+$/.test(text)) return `http://127.0.0.1:${text.replace(':', '')}`
  const url = parsed(`http://${text}`)
  return url === undefined || isLoopback(url) ? `http://${text}` : `https://${text}`
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)

/** Whether no one on the way can read what is sent to an address: with TLS, or on this machine. */
export const isPrivateWay = (url: string): boolean => url.startsWith('https:') || isLoopback(new URL(url))

const withoutSlash = ({ pathname }: URL): string => pathname.replace(/\/+$/, '')

/** The value is not repeated: it may hold a password. */
const invalid = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'AGENTPROTO_URL is not the address of a gateway', {
    expected: 'an address such as http://127.0.0.1:7646, without user, ? and #',
    hint: 'To use the gateway of this home: unset AGENTPROTO_URL',
  })
