import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fixtureAgentPath } from '@agentproto/arm-testing'
import { onTestFinished } from 'vitest'

/** A server on loopback with the fixture agent behind it, over Streamable HTTP at /mcp and SSE at /sse. */
export interface Bridge {
  readonly url: string
  readonly agents: ChildProcess[]
  readonly requests: { readonly method: string; readonly headers: IncomingMessage['headers'] }[]
  /** Breaks every connection. */
  breakAll(): void
}

export interface BridgeOptions {
  /** A bearer token that is asked for. */
  readonly token?: string
  /** How the fixture agent begins. */
  readonly start?: string
}

type Listener = (message: Record<string, unknown>, line: string) => void

export async function startBridge({ token, start = 'well' }: BridgeOptions = {}): Promise<Bridge> {
  const agents: ChildProcess[] = []
  const requests: Bridge['requests'] = []
  const sessions = new Map<string, { child: ChildProcess; listeners: Set<Listener> }>()

  function begin(): string {
    const child = spawn(process.execPath, [fixtureAgentPath, 'mcp', start], { stdio: ['pipe', 'pipe', 'ignore'] })
    const listeners = new Set<Listener>()
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (!line.startsWith('{')) return
      const message = JSON.parse(line) as Record<string, unknown>
      for (const listener of listeners) listener(message, line)
    })
    agents.push(child)
    const id = `session-${agents.length}`
    sessions.set(id, { child, listeners })
    return id
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push({ method: request.method ?? '', headers: request.headers })
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
      return void response.writeHead(401).end()
    const url = new URL(request.url ?? '', 'http://x')
    if (url.pathname === '/sse') return sse(response)
    if (url.pathname === '/messages') return post(request, response, String(url.searchParams.get('id')))
    if (request.method === 'GET') return void response.writeHead(405).end()
    if (request.method === 'DELETE') {
      sessions.get(String(request.headers['mcp-session-id']))?.child.kill('SIGKILL')
      return void response.writeHead(200).end()
    }
    return streamable(request, response)
  }

  /** The answer to a request, and all that comes before it, is one stream. */
  async function streamable(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await body(request)
    const message = JSON.parse(text) as Record<string, unknown>
    const id = message['method'] === 'initialize' ? begin() : String(request.headers['mcp-session-id'])
    const session = sessions.get(id)
    if (!session) return void response.writeHead(404).end()
    if (message['id'] === undefined || message['method'] === undefined) {
      response.writeHead(202).end()
    } else {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': id })
      const listener: Listener = (said, line) => {
        response.write(`event: message\ndata: ${line}\n\n`)
        if (said['id'] !== message['id'] || said['method'] !== undefined) return
        session.listeners.delete(listener)
        response.end()
      }
      session.listeners.add(listener)
      session.child.once('exit', () => response.end())
    }
    session.child.stdin?.write(`${text}\n`)
  }

  function sse(response: ServerResponse): void {
    const id = begin()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`event: endpoint\ndata: /messages?id=${id}\n\n`)
    sessions.get(id)?.listeners.add((_, line) => void response.write(`event: message\ndata: ${line}\n\n`))
    response.on('close', () => sessions.get(id)?.child.kill('SIGKILL'))
  }

  async function post(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
    const text = await body(request)
    response.writeHead(202).end()
    sessions.get(id)?.child.stdin?.write(`${text}\n`)
  }

  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const agent of agents) agent.kill('SIGKILL')
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, agents, requests, breakAll: () => server.closeAllConnections() }
}

async function body(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
