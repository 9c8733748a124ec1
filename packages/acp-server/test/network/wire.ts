import type { AcpCaller } from '@agentproto/contracts/wire'
import { onTestFinished, vi, expect } from 'vitest'
import { WebSocket } from 'ws'
import { answered, OWNER, type TestEndpoint } from './network-client.ts'

export const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 10_000 })

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: 1, clientCapabilities: {} },
}

export const request = (id: number | string, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

/** HTTP as a client without the SDK speaks it. */
export class RawHttp {
  readonly #under: TestEndpoint
  readonly #caller: AcpCaller
  connectionId = ''

  constructor(under: TestEndpoint, caller: AcpCaller = { by: OWNER }) {
    this.#under = under
    this.#caller = caller
  }

  async initialize(): Promise<this> {
    const response = await this.post(INITIALIZE, {})
    this.connectionId = response.headers.get('acp-connection-id') ?? ''
    if (response.status !== 200) throw new Error(`initialize was answered ${response.status}`)
    return this
  }

  post(body: unknown, headers: Record<string, string> = this.headers()): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.send('POST', { 'content-type': 'application/json', ...headers }, text)
  }

  get(headers: Record<string, string> = this.headers()): Promise<Response> {
    return this.send('GET', { accept: 'text/event-stream', ...headers })
  }

  headers(sessionId?: string): Record<string, string> {
    return {
      'acp-connection-id': this.connectionId,
      ...(sessionId === undefined ? {} : { 'acp-session-id': sessionId }),
    }
  }

  send(method: string, headers: Record<string, string>, body: string | null = null): Promise<Response> {
    const asked = new Request('http://localhost/acp', { method, headers, body })
    return answered(this.#under.endpoint, asked, this.#caller)
  }
}

/** A WebSocket as a client without the SDK speaks it. */
export interface RawSocket {
  readonly socket: WebSocket
  readonly messages: Record<string, unknown>[]
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  say(message: unknown): void
}

export async function rawSocket(url: string): Promise<RawSocket> {
  const socket = new WebSocket(url)
  const messages: Record<string, unknown>[] = []
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as Record<string, unknown>))
  socket.on('error', () => undefined)
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  onTestFinished(() => socket.terminate())
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('close', reject))
  return {
    socket,
    messages,
    closed,
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
  }
}

export async function greeted(url: string): Promise<RawSocket> {
  const raw = await rawSocket(url)
  raw.say(INITIALIZE)
  await until(() => raw.messages.length === 1)
  return raw
}
