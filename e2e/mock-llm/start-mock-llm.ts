import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { answerRequest, type RequestRecord } from './answer-request.js'
import { parseJson, objectOf, type Json } from './json.js'

const MAX_LOG = 10_000

/** A scripted model on loopback that speaks the APIs of the known agents. */
export interface MockLlm {
  /** Without a path: agents use `url` or `${url}/v1`. */
  readonly url: string
  /** The requests, oldest first. */
  readonly log: readonly RequestRecord[]
  close(): Promise<void>
}

export interface MockLlmOptions {
  readonly models?: readonly string[]
  /** Milliseconds between two chunks, unless the prompt names a number. */
  readonly chunkDelayMs?: number
}

export async function startMockLlm(options: MockLlmOptions = {}): Promise<MockLlm> {
  const { models = ['mock-1', 'mock-2'], chunkDelayMs = 3 } = options
  const log: RequestRecord[] = []
  const server = createServer((request, response) => {
    const record: RequestRecord = { method: request.method ?? '', path: pathOf(request) }
    if (log.length < MAX_LOG) log.push(record)
    handle(request, response, { models, chunkDelayMs, record }).catch((error: unknown) => {
      record.error = String(error)
      response.destroy()
    })
  })
  // Codex tries a WebSocket first and falls back.
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\n\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, log, close: () => closeServer(server) }
}

interface Handling {
  readonly models: readonly string[]
  readonly chunkDelayMs: number
  readonly record: RequestRecord
}

async function handle(request: IncomingMessage, response: ServerResponse, handling: Handling): Promise<void> {
  const path = pathOf(request)
  const text = await bodyText(request)
  if (request.method === 'GET' && /\/models\/?$/.test(path)) return sendJson(response, modelList(path, handling.models))
  if (/count_?tokens$/i.test(path)) return sendJson(response, tokenCount(text))
  const body = objectOf(parseJson(text))
  const answered = await answerRequest({ path, body, isEventStream: wantsEvents(request), response }, handling)
  if (!answered) sendJson(response, { error: { message: `mock: no such path ${path}`, type: 'not_found_error' } }, 404)
}

const pathOf = ({ url = '/' }: IncomingMessage): string => url.replace(/\?.*$/, '')

/** Gemini streams a JSON array unless the request asks for events. */
const wantsEvents = ({ url = '' }: IncomingMessage): boolean => !/:streamGenerate/.test(url) || /alt=sse/.test(url)

async function bodyText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return decoded(Buffer.concat(chunks), request.headers['content-encoding']).toString('utf8')
}

function decoded(body: Buffer, encoding: string | undefined): Buffer {
  switch (encoding) {
    case 'gzip':
      return gunzipSync(body)
    case 'br':
      return brotliDecompressSync(body)
    case 'deflate':
      return inflateSync(body)
    default:
      return body
  }
}

function modelList(path: string, models: readonly string[]): Json {
  if (path.includes('v1beta')) {
    const supportedGenerationMethods = ['generateContent']
    return { models: models.map((id) => ({ name: `models/${id}`, displayName: id, supportedGenerationMethods })) }
  }
  const model = { object: 'model', type: 'model', created: 1, owned_by: 'mock' }
  return { object: 'list', data: models.map((id) => ({ ...model, id, display_name: id })), has_more: false }
}

function tokenCount(text: string): Json {
  const tokens = Math.ceil(text.length / 4)
  return { input_tokens: tokens, totalTokens: tokens }
}

function sendJson(response: ServerResponse, body: Json, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
