import { lookup } from 'node:dns/promises'
import {
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Destination, isListed, mayConnect } from './egress-list.js'
import { listenIn } from './proxy-socket.js'

const MAX_CONNECTIONS = 256
const CONNECT_MS = 30_000

export interface EgressRules {
  /** AIP-36 `network.egress`. */
  readonly list: readonly string[]
  /** Names of the gateway, beside those of this machine. */
  readonly ownNames: readonly string[]
}

export interface EgressProxy {
  /** Closes the proxy and every connection through it. Idempotent. */
  close(): Promise<void>
}

/**
 * An HTTP proxy (CONNECT and plain requests) on a socket in a folder. It connects only to listed hosts, and is the only way out of
 * a sandbox without a network.
 * @param folder any process that may open it may use the proxy
 */
export async function openEgressProxy(folder: string, rules: EgressRules): Promise<EgressProxy> {
  const open = new Set<Duplex>()
  const server = createServer((request, response) => void forward(request, response, rules))
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', (socket) => track(open, socket))
  server.on('connect', (request, client, head) => void tunnel(request, client, { head, rules, open }))
  server.on('clientError', (_error, socket) => socket.destroy())
  await listenIn(folder, server)
  server.on('error', () => {})
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

interface Tunnel {
  readonly head: Buffer
  readonly rules: EgressRules
  readonly open: Set<Duplex>
}

async function tunnel({ url = '' }: IncomingMessage, client: Duplex, { head, rules, open }: Tunnel): Promise<void> {
  client.on('error', () => client.destroy())
  const target = await allowedTarget(`http://${url}`, rules)
  if (target === undefined) {
    client.end(`HTTP/1.1 403 Forbidden\r\n\r\n${refusal(url)}`)
    return
  }
  const outside = connect({ ...target, timeout: CONNECT_MS })
  track(open, outside)
  outside.once('timeout', () => outside.destroy())
  outside.once('connect', () => {
    outside.setTimeout(0)
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    outside.write(head)
    client.pipe(outside).pipe(client)
  })
  outside.once('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
  outside.once('close', () => client.destroy())
  client.once('close', () => outside.destroy())
}

async function forward(request: IncomingMessage, response: ServerResponse, rules: EgressRules): Promise<void> {
  const target = await allowedTarget(request.url ?? '', rules)
  if (target === undefined) {
    response.writeHead(403, { 'content-type': 'text/plain' }).end(refusal(request.url ?? ''))
    return
  }
  const fail = (): unknown => (response.headersSent ? response.destroy() : response.writeHead(502).end())
  try {
    const outgoing = outgoingOf(request, target)
    outgoing.once('response', (answer) => passOn(answer, response, fail))
    outgoing.once('error', fail)
    response.once('close', () => outgoing.destroy())
    request.pipe(outgoing)
  } catch {
    fail()
  }
}

/** @throws what Node says of a head that it does not write */
function outgoingOf({ url = '', method, headers }: IncomingMessage, target: Destination): ClientRequest {
  const { pathname, search } = new URL(url)
  const outgoing = httpRequest({ ...target, path: pathname + search, method, headers: endToEnd(headers) })
  // Otherwise its head is checked when the body ends, where nothing catches what is thrown: that would end the gateway.
  outgoing.flushHeaders()
  return outgoing
}

/** Node refuses to write some heads that it reads, such as one with the status 000. */
function passOn(answer: IncomingMessage, response: ServerResponse, fail: () => void): void {
  try {
    response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers))
    answer.pipe(response)
  } catch {
    answer.destroy()
    fail()
  }
}

/** What is meant for this connection only (RFC 9110 section 7.6.1). Node frames the body of the next one by `transfer-encoding`. */
const ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
])

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = new Set(headers.connection?.toLowerCase().split(/\s*,\s*/))
  // Naming these there would change where the body ends.
  for (const kept of ['content-length', 'transfer-encoding', 'host']) named.delete(kept)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ONE_CONNECTION.has(name) && !named.has(name)))
}

const refusal = (destination: string): string => `${destination} is not in the sandbox's network.egress\n`

function parsed(url: string): Destination | undefined {
  try {
    const { protocol, hostname, port } = new URL(url)
    if (protocol !== 'http:') return undefined
    return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 80 : Number(port) }
  } catch {
    return undefined
  }
}

/** The address to connect to for a URL; undefined where it is not allowed. */
async function allowedTarget(url: string, { list, ownNames }: EgressRules): Promise<Destination | undefined> {
  const destination = parsed(url)
  // A name that is not listed is not looked up either.
  if (destination === undefined || !isListed(list, destination)) return undefined
  const { host, port } = destination
  try {
    const { address } = await lookup(host)
    return mayConnect(list, destination, { address, ownNames }) ? { host: address, port } : undefined
  } catch {
    return undefined
  }
}

function track(open: Set<Duplex>, socket: Socket): void {
  open.add(socket)
  socket.on('error', () => socket.destroy())
  socket.once('close', () => open.delete(socket))
}
