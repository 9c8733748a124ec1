// The gateway as people run it, `agentproto serve`, over HTTP and SSE.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createHttp, sequenceChecker } from './http-client.mjs'
import { median, now, rss, timeEach } from './measure.mjs'

const cli = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))

export async function startDaemon(home, cwd) {
  const began = now()
  const env = { ...process.env, AGENTPROTO_HOME: home, AGENTPROTO_DEMO_HOME: cwd }
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    void exited.then((code) => reject(new Error(`the gateway ended with ${code}`)))
  })
  const http = createHttp({ url, token: readFileSync(`${home}/token`, 'utf8').trim() })
  await http.call('GET', '/health')
  const startMs = now() - began
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    http.close()
  }
  return { http, pid: child.pid, startMs, stop }
}

export async function benchOverHttp({ home, cwd, prompts, flood }) {
  const daemon = await startDaemon(home, cwd)
  const { http, pid, startMs } = daemon
  const idleRss = rss(pid)
  const { id } = await http.call('POST', '/sessions/agent', { adapter: 'demo', cwd })
  const trips = await timeEach(prompts, 4_000, () =>
    http.call('POST', `/sessions/${id}/prompt`, { prompt: 'x', wait: true }),
  )
  const bare = await timeEach(500, 100, () => http.call('GET', '/health'))
  const perSecond = await streamOverHttp(http, id, flood)
  const replayPerSecond = await replayOverHttp(http, id)
  await daemon.stop()
  return { startMs, idleRss, tripMs: median(trips), bareMs: median(bare), perSecond, replayPerSecond }
}

async function streamOverHttp(http, id, flood) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const check = sequenceChecker(lastSeq + 1)
  let done
  const ended = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=${lastSeq}`, (chunk) => {
    check.push(chunk)
    if (check.ended) done()
  })
  const began = now()
  await http.call('POST', `/sessions/${id}/prompt`, { prompt: `flood ${flood}` })
  await ended
  const ms = now() - began
  stream.close()
  if (check.next - lastSeq - 1 < flood) throw new Error('updates are missing')
  return (flood / ms) * 1_000
}

async function replayOverHttp(http, id) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const check = sequenceChecker(1)
  const began = now()
  let done
  const all = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=0`, (chunk) => {
    check.push(chunk)
    if (check.next > lastSeq) done()
  })
  await all
  stream.close()
  return (lastSeq / (now() - began)) * 1_000
}
