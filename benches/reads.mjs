// Reads over kept-alive connections, as a dashboard or a poller makes them, beside a bare http.Server with the same answer;
// and one session told to many.
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { cpuSeconds, now } from './measure.mjs'
import { startDaemon } from './over-http.mjs'

const CONNECTIONS = 64
const BARE = `
  const body = process.argv[1]
  require('node:http').createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(body)
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })
`

export async function benchReads({ home, cwd, readMs, subscribers, fanOut }) {
  const daemon = await startDaemon(home, cwd)
  const { http } = daemon
  const { id } = await http.call('POST', '/sessions/agent', { adapter: 'demo', cwd })
  const session = JSON.stringify(await http.call('GET', `/sessions/${id}`))
  const bare = await startBare(session)
  const target = { pid: daemon.pid, port: Number(new URL(http.url).port), token: http.token }
  const bareReads = await reads({ ...bare, path: '/', ms: readMs })
  const one = await reads({ ...target, path: `/sessions/${id}`, ms: readMs })
  const list = await reads({ ...target, path: '/sessions?limit=1', ms: readMs })
  bare.stop()
  const delivered = await deliveredPerSecond(http, { id, subscribers, fanOut })
  await daemon.stop()
  return { bareReads, one, list, delivered }
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
async function reads({ pid, port, path, token, ms }) {
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

async function deliveredPerSecond(http, { id, subscribers, fanOut }) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const streams = await Promise.all(
    Array.from({ length: subscribers }, () => subscribe(http, `/sessions/${id}/events?after=${lastSeq}`)),
  )
  const began = now()
  await http.call('POST', `/sessions/${id}/prompt`, { prompt: `flood ${fanOut}` })
  const counts = await Promise.all(streams.map(({ ended }) => ended))
  const seconds = (now() - began) / 1_000
  for (const stream of streams) stream.close()
  const events = counts[0]
  if (counts.some((count) => count !== events)) throw new Error('a subscriber lost events')
  return (events * subscribers) / seconds
}

async function subscribe(http, path) {
  let events = 0
  let done
  const ended = new Promise((resolve) => (done = resolve))
  let tail = ''
  const stream = await http.stream(path, (chunk) => {
    const text = tail + chunk.toString('latin1')
    // What a split marker needs of the chunk before it; a whole one is never counted twice.
    let at = text.indexOf('\nevent: ')
    while (at >= 0 && at + 20 <= text.length) {
      events += 1
      if (text.startsWith('turn-end', at + 8)) done(events)
      at = text.indexOf('\nevent: ', at + 8)
    }
    tail = at >= 0 ? text.slice(at) : text.slice(-7)
  })
  return { ended, close: stream.close }
}
