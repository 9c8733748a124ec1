import { once } from 'node:events'
import { request as plainRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, request, type RequestOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { newAuthority } from './certificates.js'

/** A proxy on loopback that ends TLS and takes a prefix off the path, as the guide to remote access asks for. */
export interface ReverseProxy {
  /** The address that browsers have, with the prefix. */
  readonly url: string
  /** Paths outside of the prefix that were asked for. */
  readonly strays: readonly string[]
  /** Names the gateway behind it. */
  passTo(gateway: string): void
  /** One request to it, whatever its host name leads to. */
  call(path: string, headers: Readonly<Record<string, string>>): Promise<Answer>
}

interface Answer {
  readonly status: number | undefined
  readonly body: string
}

/** @param name of the host, which leads nowhere: a browser must be started with a rule for it */
export async function startProxy(name: string, prefix: string): Promise<ReverseProxy> {
  const authority = newAuthority()
  const strays: string[] = []
  let gateway = ''
  const server = createServer(authority.issue({ name, hosts: [name] }), (incoming, outgoing) => {
    const { url = '' } = incoming
    if (url.startsWith(`${prefix}/`)) return pass(incoming, outgoing, gateway + url.slice(prefix.length))
    strays.push(url)
    outgoing.writeHead(404).end('<p>Another site of this host</p>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const to = { port, host: '127.0.0.1', servername: name, ca: authority.cert, agent: false } as const
  return {
    url: `https://${name}:${port}${prefix}`,
    strays,
    passTo: (url) => void (gateway = url),
    call: (path, headers) => answerOf({ ...to, path: prefix + path, headers: { host: `${name}:${port}`, ...headers } }),
  }
}

/** All headers are passed on, the Host of the browser too, and what comes back as soon as it comes. */
function pass(incoming: IncomingMessage, outgoing: ServerResponse, to: string): void {
  const { method, headers } = incoming
  const sent = plainRequest(to, { method, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    outgoing.flushHeaders()
    answer.pipe(outgoing)
  })
  sent.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()))
  outgoing.on('close', () => sent.destroy())
  incoming.pipe(sent)
}

const answerOf = (options: RequestOptions): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode, body }), reject)
    })
    sent.on('error', reject).end()
  })
