// Reads over kept-alive connections, as a dashboard or a poller makes them, beside a bare http.Server with the same answer.
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { startDaemon, startSession } from './gateway.mjs'
import { cpuSeconds, now } from './measure.mjs'
import { k, row } from './table.mjs'

const CONNECTIONS = 64
const BARE = `
  const body = process.argv[1]
  require('node:http').createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(body)
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`

export async function reads({ home, cwd, readMs: ms }) {
  const daemon = await startDaemon(home, cwd)
  const { http } = daemon
  const id = await startSession(http, cwd)
  const bare = await startBare(JSON.stringify(await http.call('GET', `/sessions/${id}`)))
  const target = { pid: daemon.pid, port: Number(new URL(http.url).port), token: http.token }
  const plain = await read({ ...bare, path: '/', ms })
  const one = await read({ ...target, path: `/sessions/${id}`, ms })
  const list = await read({ ...target, path: '/sessions?limit=1', ms })
  bare.stop()
  await daemon.stop()
  const goal = { least: 15_000, unit: k }
  return [
    row('reads, a bare http.Server with the same answer', plain.perSecond, { unit: k }),
    row('reads, one session', one.perSecond, { ...goal, of: plain.perSecond }),
    row('reads, a list', list.perSecond, { ...goal, of: plain.perSecond }),
    row('  a list, by processor time', list.perCoreSecond, { ...goal, of: plain.perCoreSecond }),
  ]
}

async function startBare(body) {
  const child = spawn(process.execPath, ['-e', BARE, body], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise((resolve) => createInterface(child.stdout).once('line', resolve))
  return { pid: child.pid, port: Number(port), stop: () => child.kill() }
}

/**
 * Each connection asks again when it has its answer; the least work that a client can do.
 * @returns answers a second, and answers a second of the server's processor time: what one core of its own would give
 */
async function read({ pid, port, path, token, ms }) {
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`
  const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${authorization}\r\n`
  let answers = 0
  const counted = () => (answers += 1)
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => reader({ port, request, counted })))
  await new Promise((resolve) => setTimeout(resolve, ms / 4))
  const [before, began, cpu] = [answers, now(), cpuSeconds(pid)]
  await new Promise((resolve) => setTimeout(resolve, ms))
  const perSecond = ((answers - before) / (now() - began)) * 1_000
  const perCoreSecond = (answers - before) / (cpuSeconds(pid) - cpu)
  for (const socket of sockets) socket.destroy()
  return { perSecond, perCoreSecond }
}

function reader({ port, request, counted }) {
  return new Promise((resolve, reject) => {
    let size
    let got = 0
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.setNoDelay(true)
    socket.once('error', reject)
    socket.on('connect', () => socket.write(request))
    socket.on('data', (chunk) => {
      size ??= answerSize(chunk)
      got += chunk.byteLength
      while (got >= size) {
        got -= size
        counted()
        socket.write(request)
      }
    })
  })
}

/** All answers of a run are of one length. */
function answerSize(chunk) {
  const text = chunk.toString('latin1')
  if (!text.startsWith('HTTP/1.1 200')) throw new Error(text)
  const head = text.indexOf('\r\n\r\n') + 4
  return head + Number(/content-length: (\d+)/i.exec(text)[1])
}
