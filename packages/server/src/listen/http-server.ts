import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentprotoError, isAgentprotoError, type Principal } from '@agentproto/contracts'
import { getRequestListener, RequestError } from '@hono/node-server'
import { Connections } from './connections.js'
import { asInUrl, isWildcard } from './host-names.js'
import type { TlsOptions } from './tls-material.js'
import { requestClass } from './upgrade-request.js'
import { type OpenWebSocket, WebSockets } from './web-sockets.js'

export interface ListenOptions {
  /** Default `127.0.0.1`. Anything but loopback needs `allowRemote`. */
  readonly host?: string
  /** 0 picks a free port. Default 7646. */
  readonly port?: number
  /** If no port is given and the default port is taken, a free one is used, and a problem reports it. Default: it fails. */
  readonly orFree?: boolean
  readonly allowRemote?: boolean
  /** A port that is tried first where a free one would be used. */
  readonly lastPort?: number
  /** Connections that may be open at the same time; beyond it the longest idle one is closed. Default 1024. */
  readonly maxConnections?: number
  /** With a certificate and a key it serves https. Each field overrides that of `createGateway` and config.json. */
  readonly tls?: Partial<TlsOptions>
}

/** A listening socket. */
export interface HttpServer {
  readonly url: string
  /** The address it listens on, as it was given; a wildcard as the system writes it. */
  readonly host: string
  /** Whether programs of this machine can use `url` without a certificate: plain HTTP, on loopback. */
  readonly isPlainLoopback: boolean
  /** Stops accepting; resolves when every connection has ended, forced after the grace (milliseconds). */
  close(graceMs: number): Promise<void>
}

export const DEFAULT_PORT = 7646
const DEFAULT_CONNECTIONS = 1_024

/** A client has this long to send its headers and its body: a slow one must not hold a connection. */
const LIMITS = {
  headersTimeout: 15_000,
  requestTimeout: 60_000,
  /** How often they are checked. */
  connectionsCheckingInterval: 5_000,
  /** Including the request line; more is answered with 431. */
  maxHeaderSize: 16 * 1024,
} as const

export interface ServeOptions extends ListenOptions {
  readonly onProblem: (problem: string) => void
  /** Where a request may become a WebSocket. Default nowhere. */
  readonly isWebSocketPath?: (path: string) => boolean
}

/** What an app gets beside a request. */
export interface RequestEnv {
  /** Node's own request and response. */
  readonly incoming: object
  readonly outgoing: object
  /** Gives the request of a known caller a place until it is answered. @throws `request_limit_reached` */
  readonly admit: (by: Principal) => void
  /** Opens the WebSocket that a request asks for; absent for every other request. */
  readonly openWebSocket?: OpenWebSocket
  /** The listener is for the owner and the agents of this machine. */
  readonly rejectNamedTokens?: boolean
}

/** Answers a request. */
export type Fetch = (request: Request, env: RequestEnv) => Response | Promise<Response>
type Limits = { readonly [Limit in keyof typeof LIMITS]: number }

/** Serves an app, and bounds what its callers may hold. */
export async function serveHttp(fetch: Fetch, options: ServeOptions, limits: Limits = LIMITS): Promise<HttpServer> {
  const { host = '127.0.0.1', tls, maxConnections: max = DEFAULT_CONNECTIONS, onProblem } = options
  if (!isLoopback(host) && options.allowRemote !== true) throw notLoopback(host)
  const connections = new Connections({ isTls: tls !== undefined, max, onProblem })
  const webSockets = new WebSockets()
  const answering = { fetch, connections, onProblem }
  const server = await createServer(options, listenerOf(answering), limits)
  connections.watch(server)
  webSockets.watch(server, (openWebSocket) => listenerOf(answering, { openWebSocket }))
  await bindAny(server, host, options)
  const { port, address } = server.address() as AddressInfo
  // A wildcard is no address to call; `::` accepts IPv4 as well.
  const reached = isWildcard(address) ? '127.0.0.1' : host
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${asInUrl(reached)}:${port}`,
    host: isWildcard(address) ? address : host,
    isPlainLoopback: tls === undefined && isLoopback(reached),
    close(graceMs) {
      webSockets.close()
      return closeServer(server, connections, graceMs)
    },
  }
}

interface Answering {
  readonly fetch: Fetch
  readonly connections: Connections
  readonly onProblem: (problem: string) => void
}

/** @param more What its requests get beside what all get */
function listenerOf(
  { fetch, connections, onProblem }: Answering,
  more?: Pick<RequestEnv, 'openWebSocket'>,
): RequestListener {
  const listener = getRequestListener(
    (request, { incoming, outgoing }) =>
      fetch(request, { incoming, outgoing, admit: connections.admit.bind(connections, incoming, outgoing), ...more }),
    {
      // An embedder's globals are its own.
      overrideGlobalObjects: false,
      errorHandler(error) {
        if (error instanceof RequestError) return new Response(null, { status: 400 })
        onProblem(`A request failed outside the app: ${String(error)}`)
        return new Response(null, { status: 500 })
      },
    },
  )
  return (incoming, outgoing) => void listener(incoming, outgoing)
}

async function createServer(
  { tls, onProblem, isWebSocketPath = () => false }: ServeOptions,
  listener: RequestListener,
  times: Limits,
): Promise<Server> {
  // A header that is sent twice is joined, never chosen from: the joined value matches no host and no token.
  const limits = { ...times, joinDuplicateHeaders: true, IncomingMessage: requestClass(isWebSocketPath) }
  if (tls === undefined) return createHttpServer(limits, listener)
  const { createTlsServer } = await import('./tls-server.js')
  return createTlsServer({ tls, onProblem, limits: { ...limits, handshakeTimeout: times.headersTimeout } }, listener)
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

async function bindAny(server: Server, host: string, options: ServeOptions): Promise<void> {
  const { port, orFree, lastPort, onProblem } = options
  const isAnyPort = port === 0 || (port === undefined && orFree === true)
  if (isAnyPort && lastPort !== undefined && (await isBound(server, lastPort, host))) return
  if (port !== undefined || orFree !== true) return bind(server, port ?? DEFAULT_PORT, host)
  if (await isBound(server, DEFAULT_PORT, host)) return
  onProblem(`port ${DEFAULT_PORT} is taken; a free one is used instead`)
  await bind(server, 0, host)
}

/** Binds a port, unless another program has it. */
async function isBound(server: Server, port: number, host: string): Promise<boolean> {
  try {
    await bind(server, port, host)
    return true
  } catch (error) {
    if (!isAgentprotoError(error) || !isTaken(error.cause)) throw error
    return false
  }
}

const isTaken = (cause: unknown): boolean => cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'

async function bind(server: Server, port: number, host: string): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, host, port)
  }
  // A socket that fails later concerns one client, never the gateway.
  server.on('error', () => undefined)
}

function closeServer(server: Server, connections: Connections, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => connections.closeAll(), graceMs)
    server.close(() => {
      clearTimeout(force)
      resolve()
    })
    connections.closeIdle()
  })
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): AgentprotoError {
  return new AgentprotoError('listen_failed', `Cannot listen on ${host}:${port}`, {
    given: error.message,
    hint: isTaken(error)
      ? 'Another program has the port: choose one with --port, or --port 0 for a free one'
      : 'Choose another --host or --port',
    cause: error,
  })
}

const notLoopback = (host: string): AgentprotoError =>
  new AgentprotoError(
    'listen_failed',
    'Listening beyond loopback gives everybody who has the token a shell on this machine',
    {
      expected: 'a loopback host, or the explicit permission to go beyond it',
      given: host,
      hint: 'Keep 127.0.0.1, or pass --allow-remote together with TLS',
    },
  )
