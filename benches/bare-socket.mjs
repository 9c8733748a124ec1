// What a WebSocket can carry: a bare `ws` server, in a process of its own, that sends the same frame again and again.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket, WebSocketServer } from 'ws'
import { now } from './measure.mjs'

/** Frames a second, to one client that counts them. */
export async function bareFrames(text, frames) {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: [] })
  const exited = once(child, 'exit')
  const [port] = await once(child, 'message')
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
  await once(socket, 'open')
  const began = now()
  let count = 0
  const all = new Promise((resolve) => socket.on('message', () => (count += 1) === frames && resolve()))
  socket.send(JSON.stringify({ text, frames }))
  await all
  const took = now() - began
  socket.close()
  child.send('close')
  await exited
  return (frames / took) * 1_000
}

async function serve() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('connection', (socket) => socket.once('message', (asked) => void send(socket, JSON.parse(asked))))
  await once(server, 'listening')
  process.send(server.address().port)
  await once(process, 'message')
  server.close()
  process.disconnect()
}

async function send(socket, { text, frames }) {
  for (let sent = 0; sent < frames; sent += 1) {
    socket.send(text)
    while (socket.bufferedAmount > UNREAD_BYTES) await setImmediate()
  }
}

const UNREAD_BYTES = 1_000_000

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) await serve()
