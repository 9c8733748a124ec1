import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void

/** A server that answers as a test says and remembers what it was asked. */
export async function fakeGateway(answer: Answer): Promise<{ readonly url: string; readonly seen: SeenRequest[] }> {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => void receive(request, response))
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: body === '' ? undefined : (JSON.parse(body) as unknown),
    }
    seen.push(one)
    answer(one, response)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

export function json(response: ServerResponse, body: unknown, status = 200): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body))
}

export function sse(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return response
}

export function event(seq: number, body: Record<string, unknown> = { type: 'text-delta', text: String(seq) }): string {
  const data = { seq, ts: '2026-11-21T00:00:00.000Z', sessionId: 's1', turn: 1, ...body }
  return `id: ${seq}\nevent: ${String(body['type'])}\ndata: ${JSON.stringify(data)}\n\n`
}

export const stopped = (seq: number): string =>
  event(seq, { type: 'session-stopped', status: 'exited', stopReason: 'completed' })
