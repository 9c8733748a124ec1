import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A server on loopback. Ends with the test. */
export interface LoopbackServer {
  readonly url: string
  /** `path`, or `path 304` where the client had it already, in the order of the requests. */
  readonly asked: readonly string[]
  /** What a path answers from now on: a content with its ETag, or anything else. @returns its address */
  put(path: string, content: string | Uint8Array | Answer): string
}

export async function startLoopbackServer(): Promise<LoopbackServer> {
  const answers = new Map<string, Answer>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/')
    const answer = answers.get(path) ?? ((missing: ServerResponse) => void missing.writeHead(404).end('{}'))
    answer(response, request)
    asked.push(response.statusCode === 304 ? `${path} 304` : path)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const put = (path: string, content: string | Uint8Array | Answer): string => {
    answers.set(path, typeof content === 'function' ? content : withEtag(content))
    return `${url}${path}`
  }
  return { url, asked, put }
}

function withEtag(content: string | Uint8Array): Answer {
  const etag = `"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`
  return (response, { headers }) =>
    headers['if-none-match'] === etag
      ? void response.writeHead(304).end()
      : void response.writeHead(200, { etag }).end(content)
}

/** Answers with a number of bytes, as fast as they are taken. */
export const endless =
  (bytes: number): Answer =>
  (response) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ')
    let left = bytes
    const write = (): void => {
      while (left > 0) {
        left -= chunk.length
        if (!response.write(chunk)) return void response.once('drain', write)
      }
      response.end()
    }
    write()
  }

export const redirect =
  (location: string): Answer =>
  (response) =>
    void response.writeHead(302, { location }).end()
