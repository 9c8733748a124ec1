import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export interface RegistryServer {
  readonly url: string
  /** What it answers from now on. */
  answer: Answer
  /** `METHOD path if-none-match` of each request. */
  readonly requests: readonly string[]
}

/** A server on loopback that answers what the test says, and ends with it. */
export async function registryServer(answer: Answer): Promise<RegistryServer> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { 'if-none-match': etag = '-', 'if-modified-since': since = '-' } = request.headers
    requests.push(`${request.url ?? ''} ${etag} ${since}`)
    own.answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const own: RegistryServer = { url: `http://127.0.0.1:${port}/registry.json`, answer, requests }
  return own
}

/** Answers with a text, and with 304 to those that have it. */
export const document =
  (text: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response, { headers: { 'if-none-match': etag } }) =>
    etag !== undefined && etag === headers['etag']
      ? void response.writeHead(304).end()
      : void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text)

/** A folder of the test's own, gone when the test is. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-acp-registry-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
