// The least that a gateway can be: Node's HTTP server before the ACP SDK's client, in a process of their own. No log, no
// token, no check. What a prompt takes here is what the machine, Node and the agent take.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createHttp } from './http-client.mjs'
import { startRaw } from './raw-client.mjs'

export async function startLeastGateway(cwd) {
  const child = fork(fileURLToPath(import.meta.url), [cwd], { execArgv: [] })
  const exited = once(child, 'exit')
  const [url] = await once(child, 'message')
  const http = createHttp({ url, token: 'none' })
  const stop = async () => {
    child.send('close')
    await exited
    http.close()
  }
  return { http, stop }
}

async function serve(cwd) {
  const agent = await startRaw(cwd)
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => void answer(agent, Buffer.concat(chunks).toString(), response))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  process.send(`http://127.0.0.1:${server.address().port}`)
  await once(process, 'message')
  server.closeAllConnections()
  server.close()
  await agent.stop()
  process.disconnect()
}

async function answer(agent, text, response) {
  const body = JSON.stringify(await agent.prompt(JSON.parse(text).prompt))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) await serve(process.argv[2])
