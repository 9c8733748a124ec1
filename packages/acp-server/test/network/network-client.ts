import { client, RequestError } from '@agentclientprotocol/sdk'
import type { ClientCapabilities, ClientContext, SessionUpdate, Stream } from '@agentclientprotocol/sdk'
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { type AcpEndpoint, type AcpEndpointDeps, createAcpEndpoint } from '@agentproto/acp-server'
import { isAgentprotoError, type Principal } from '@agentproto/contracts'
import type { AcpCaller } from '@agentproto/contracts/wire'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { FakeClock } from '../../../gateway-http/test/fake-clock.ts'
import { fakeService, type ServiceCall } from '../fake-service.ts'
import { FakeSessions } from '../fake-sessions.ts'

export const OWNER: Principal = { type: 'owner', name: 'owner' }
export const token = (name: string, scope: 'read' | 'operate' | 'admin' = 'operate'): Principal => ({
  type: 'token',
  name,
  scope,
})

export interface TestEndpoint {
  readonly endpoint: AcpEndpoint
  readonly sessions: FakeSessions
  readonly calls: ServiceCall[]
  readonly clock: FakeClock
  readonly refused: unknown[]
  readonly problems: string[]
  /** Lines that were printed to the console. */
  readonly printed: unknown[][]
}

const ADAPTERS = ['demo', 'other'].map((slug) => ({ slug, installed: slug === 'demo' }))

export function testEndpoint(more: Partial<AcpEndpointDeps> = {}): TestEndpoint {
  const sessions = new FakeSessions()
  const [calls, refused, problems, printed] = [[] as ServiceCall[], [] as unknown[], [] as string[], [] as unknown[][]]
  const clock = new FakeClock()
  for (const method of ['log', 'warn', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((...line) => void printed.push(line))
  const endpoint = createAcpEndpoint({
    sessions: fakeService(sessions, calls),
    adapters: {
      list: async () => ADAPTERS as never,
      get: async (slug) => ADAPTERS.find((each) => each.slug === slug) as never,
    },
    version: '1.2.3',
    clock,
    onRefused: (refusal) => refused.push(refusal),
    onProblem: (problem) => problems.push(problem),
    ...more,
  })
  onTestFinished(async () => {
    await endpoint.close()
    vi.restoreAllMocks()
  })
  return { endpoint, sessions, calls, clock, refused, problems, printed }
}

/** The endpoint's answer, as an HTTP app gives it. */
export async function answered(endpoint: AcpEndpoint, request: Request, caller: AcpCaller): Promise<Response> {
  try {
    return await endpoint.fetch(request, caller)
  } catch (thrown) {
    if (!isAgentprotoError(thrown)) throw thrown
    return Response.json(thrown.toProblem(), { status: thrown.row.status })
  }
}

/** The SDK's client of streamable HTTP, in process. */
export const httpStream = ({ endpoint }: TestEndpoint, caller: AcpCaller = { by: OWNER }): Stream =>
  createHttpStream('http://localhost/acp', {
    fetch: (input: string | URL | Request, init?: RequestInit) => answered(endpoint, new Request(input, init), caller),
  })

/** A real WebSocket of the endpoint, for any number of callers. */
export async function socketUrl({ endpoint }: TestEndpoint, caller: AcpCaller = { by: OWNER }): Promise<string> {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 8 * 1024 * 1024 })
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    let upgrade
    try {
      upgrade = endpoint.upgrade(caller)
    } catch {
      socket.end('HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const { connectionId, accept } = upgrade
    sockets.once('headers', (headers) => headers.push(`acp-connection-id: ${connectionId}`))
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const together = (send: () => void): void => {
        socket.cork()
        send()
        socket.uncork()
      }
      accept(Object.assign(opened, { together }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const each of sockets.clients) each.terminate()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/acp`
}

export const socketStream = (url: string): Stream => createWebSocketStream(url, { WebSocket })

export interface NetworkClient {
  readonly agent: ClientContext
  readonly updates: { sessionId: string; update: SessionUpdate; _meta?: unknown }[]
  readonly asked: { readonly params: unknown; answer(result: object): void; readonly signal: AbortSignal }[]
  readonly ended: unknown[]
  readonly closed: Promise<void>
  close(): void
}

/** The SDK's client over a stream, after `initialize`. */
export async function networkClient(stream: Stream, capabilities: ClientCapabilities = {}): Promise<NetworkClient> {
  const updates: NetworkClient['updates'] = []
  const asked: NetworkClient['asked'] = []
  const ended: unknown[] = []
  const connection = client({ name: 'test' })
    .onNotification('session/update', ({ params }) => void updates.push(params as never))
    .onNotification(
      '_agentproto/turn_ended',
      (params: unknown) => params,
      ({ params }) => void ended.push(params),
    )
    .onRequest(
      'session/request_permission',
      ({ params, signal }) =>
        new Promise((resolve, reject) => {
          asked.push({ params, signal, answer: resolve })
          signal.addEventListener('abort', () => reject(RequestError.requestCancelled()))
        }),
    )
    .connect(stream)
  onTestFinished(() => connection.close())
  await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: capabilities })
  return { agent: connection.agent, updates, asked, ended, closed: connection.closed, close: () => connection.close() }
}
