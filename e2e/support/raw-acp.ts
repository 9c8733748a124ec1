import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

/** A client of ACP without any library of ACP: it sends what a correct client never would. */
export interface RawAcp {
  /** Sends a request and waits for its answer. */
  ask(method: string, params?: object): Promise<Answer>
  /** Sends text as it is. */
  say(text: string): void
  /** What came that answers none of `ask`. */
  readonly heard: Heard[]
  /** The code that the connection was closed with. */
  readonly closed: Promise<number>
  readonly socket: WebSocket
}

export interface Answer {
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> }
}

export interface Heard extends Answer {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Record<string, unknown>
}

export interface AcpDoor {
  readonly url: string
  readonly token: string
}

/** Opens a WebSocket, without `initialize`. Rejects with the status of a refusal. */
export async function rawSocket({ url, token }: AcpDoor, path = '/acp'): Promise<RawAcp> {
  const headers = { authorization: `Bearer ${token}` }
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  onTestFinished(() => socket.terminate())
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve).once('error', reject)
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`status ${statusCode}`)))
  })
  socket.on('error', () => undefined)
  const waiting = new Map<unknown, (answer: Answer) => void>()
  const heard: Heard[] = []
  let next = 0
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Heard
    const answered = 'method' in message ? undefined : waiting.get(message.id)
    if (answered === undefined) heard.push(message)
    else answered(message)
    waiting.delete(message.id)
  })
  const say = (text: string): void => socket.send(text)
  return {
    ask: (method, params = {}) =>
      new Promise((resolve) => {
        next += 1
        waiting.set(next, resolve)
        say(JSON.stringify({ jsonrpc: '2.0', id: next, method, params }))
      }),
    say,
    heard,
    closed: once(socket, 'close').then(([code]) => code as number),
    socket,
  }
}

export const HELLO = { protocolVersion: 1, clientCapabilities: {} }

/** A WebSocket after `initialize`. */
export async function initializedSocket(door: AcpDoor, path?: string): Promise<RawAcp> {
  const client = await rawSocket(door, path)
  const { error } = await client.ask('initialize', HELLO)
  if (error !== undefined) throw new Error(error.message)
  return client
}

/** One request to `/acp` by streamable HTTP. */
export async function acpRequest(
  { url, token }: AcpDoor,
  { method = 'POST', path = '/acp', body, headers = {} }: RawRequest = {},
): Promise<RawResponse> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return {
    status: response.status,
    connectionId: response.headers.get('acp-connection-id'),
    text: await response.text(),
  }
}

export interface RawRequest {
  readonly method?: string
  readonly path?: string
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
}

export interface RawResponse {
  readonly status: number
  readonly connectionId: string | null
  readonly text: string
}

/** Opens a connection of streamable HTTP. @returns the header that names it */
export async function initializedHttp(door: AcpDoor, path = '/acp'): Promise<Readonly<Record<string, string>>> {
  const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO }
  const { connectionId, status, text } = await acpRequest(door, { path, body })
  if (connectionId === null) throw new Error(`initialize: ${status} ${text}`)
  return { 'acp-connection-id': connectionId }
}
