import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { Connections } from './connections.js'
import type { ListenOptions } from '../gateway-options.js'
import { asInUrl, isWildcard } from './own-names.js'
import { preferPlainResponses } from '../web/plain-response.js'
import { requestListener } from '../web/request-listener.js'

/** A real socket for an app: bounds of the connection level, and an orderly end. */

export interface ListeningServer {
  readonly url: string
  /** What it listens on, as it was named; a wildcard as the system writes it. */
  readonly host: string
  /** Whether programs of this machine reach it at `url` without more: plain HTTP, on loopback. */
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
  /** How often they are looked at. */
  connectionsCheckingInterval: 5_000,
  /** Of the request line too; more is answered 431. */
  maxHeaderSize: 16 * 1024,
} as const

/** How to listen, and who is told what nobody's call could be told. */
export interface Listening extends ListenOptions {
  readonly onProblem: (problem: string) => void
}

/** @param fetch is handed, beside the request, the connection that it came by */
export async function listen(
  fetch: (request: Request, env: object) => Response | Promise<Response>,
  options: Listening,
  times: Limits = LIMITS,
): Promise<ListeningServer> {
  const { host = '127.0.0.1', ownProcess = false, tls, maxConnections: max = DEFAULT_CONNECTIONS, onProblem } = options
  if (!isLoopback(host) && options.allowRemote !== true) throw notLoopback(host)
  if (ownProcess) preferPlainResponses()
  const listener = requestListener(fetch, (thrown) => onProblem(`An answer was not sent: ${String(thrown)}`))
  const server = await serverOf(options, listener, times)
  const connections = new Connections(server, { isTls: tls !== undefined, max, onProblem })
  await boundAs(server, host, options)
  const { port, address } = server.address() as AddressInfo
  // Nobody is called by a wildcard; `::` takes IPv4 as well.
  const reached = isWildcard(address) ? '127.0.0.1' : host
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${asInUrl(reached)}:${port}`,
    host: isWildcard(address) ? address : host,
    isPlainLoopback: tls === undefined && isLoopback(reached),
    close: (graceMs) => closed(server, connections, graceMs),
  }
}

type Limits = { readonly [Limit in keyof typeof LIMITS]: number }

async function serverOf({ tls, onProblem }: Listening, listener: RequestListener, times: Limits): Promise<Server> {
  // Of a field that is there twice none is chosen: two hosts or two tokens are one that nobody has.
  const limits = { ...times, joinDuplicateHeaders: true }
  if (tls === undefined) return createHttpServer(limits, listener)
  const { createTlsServer } = await import('./tls-server.js')
  return createTlsServer({ tls, onProblem, limits: { ...limits, handshakeTimeout: times.headersTimeout } }, listener)
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

async function boundAs(server: Server, host: string, { port, orFree, onProblem }: Listening): Promise<void> {
  if (port !== undefined || orFree !== true) return bound(server, port ?? DEFAULT_PORT, host)
  try {
    await bound(server, DEFAULT_PORT, host)
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || !isTaken(thrown.cause)) throw thrown
    onProblem(`port ${DEFAULT_PORT} is taken; a free one is used instead`)
    await bound(server, 0, host)
  }
}

const isTaken = (cause: unknown): boolean => cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'

function bound(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(cannotListen(error, host, port))
    server.once('error', refuse)
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      // A socket that fails later is one client's trouble, never the gateway's.
      server.on('error', () => undefined)
      resolve()
    })
  })
}

function closed(server: Server, connections: Connections, graceMs: number): Promise<void> {
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
  const taken = isTaken(error)
  return new AgentprotoError('listen_failed', `Cannot listen on ${host}:${port}`, {
    given: error.message,
    hint: taken
      ? 'Another program has the port: choose one with --port, or --port 0 for a free one'
      : 'Choose another --host or --port',
    cause: error,
  })
}

const notLoopback = (host: string): AgentprotoError =>
  new AgentprotoError(
    'listen_failed',
    'Listening beyond loopback gives whoever has the token a shell on this machine',
    {
      expected: 'a loopback host, or the explicit permission to go beyond it',
      given: host,
      hint: 'Keep 127.0.0.1, or pass --allow-remote together with TLS',
    },
  )
