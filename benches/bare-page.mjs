// What a page takes without a gateway: a bare Node server, in a process of its own, sends the same bytes from memory to the same client.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createHttp } from './http-client.mjs'

export async function startBarePage(text) {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: [] })
  const exited = once(child, 'exit')
  child.send(text)
  const [url] = await once(child, 'message')
  const http = createHttp({ url, token: 'none' })
  const stop = async () => {
    child.send('close')
    await exited
  }
  return { http, stop }
}

async function serve() {
  const [text] = await once(process, 'message')
  const bytes = Buffer.from(text)
  const headers = { 'content-type': 'application/json', 'content-length': bytes.length }
  const server = createServer((_, response) => response.writeHead(200, headers).end(bytes))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  process.send(`http://127.0.0.1:${server.address().port}`)
  await once(process, 'message')
  server.closeAllConnections()
  server.close()
  process.disconnect()
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) await serve()
