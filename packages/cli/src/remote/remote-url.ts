import { AgentprotoError } from '@agentproto/contracts'
import { addressIn, isPrivateWay } from '../daemon/gateway-url.js'

/** What the address of a gateway elsewhere names. */
export interface RemoteUrl {
  /** Where its HTTP API is, without a trailing slash. */
  readonly url: string
  /** Of `/acp/<agent>`. */
  readonly agent: string | undefined
}

/**
 * Reads the address of a gateway as people have it: `http(s)://` or `ws(s)://host[:port][/prefix]`, and what its ACP endpoint
 * adds to it, `/acp` or `/acp/<agent>`. Without a scheme only this machine is called in plain HTTP.
 * @throws `invalid_request`; the text is not repeated, since it may hold a token
 */
export function parseRemoteUrl(written: string): RemoteUrl {
  const url = addressIn(written, Object.keys(HTTP))
  if (url === undefined) throw notAnAddress()
  const segments = url.pathname.split('/').filter((segment) => segment !== '')
  const at = segments.lastIndexOf('acp')
  const [, agent, ...more] = at < 0 ? [] : segments.slice(at)
  const isEndpoint = at >= 0 && more.length === 0
  if (isEndpoint && agent !== undefined && !/^[a-z0-9][a-z0-9._-]*$/i.test(agent)) throw notAnAddress()
  const prefix = isEndpoint ? segments.slice(0, at) : segments
  const base = [`${HTTP[url.protocol]}//${url.host}`, ...prefix].join('/')
  return { url: base, agent: isEndpoint ? agent : undefined }
}

/** The scheme of the HTTP API, by that of the address. */
const HTTP: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'ws:': 'http:',
  'wss:': 'https:',
}

/**
 * Refuses plain HTTP beyond this machine, where everyone on the way can read the token and what the agent does.
 * @throws `invalid_request`
 */
export function assertPrivate({ url }: RemoteUrl, allowInsecure: boolean): void {
  if (allowInsecure || isPrivateWay(url)) return
  throw new AgentprotoError('invalid_request', `${url} is plain HTTP to another machine`, {
    expected: 'https or wss: everyone on the way could read the token and change what is sent',
    hint: 'Serve TLS there, as docs/security.md shows; or, in a network that encrypts by itself, add --allow-insecure',
  })
}

const notAnAddress = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'That is not the address of a gateway', {
    expected: 'such as https://build.example.com or wss://build.example.com/acp/opencode, without user, ? and #',
    hint: 'A token does not belong in the address: store it with agentproto remote login <url>',
  })
