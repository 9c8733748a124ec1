// A day of a gateway in minutes: sessions one after the other with turns and events; memory and descriptors at each
// quarter. `node e2e/soak.mjs` is the whole run, `--quick` a short one. The last line is JSON; exit code 0 means that
// the memory is within 15 % of the first quarter's, and no descriptor has leaked.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient } from '@agentproto/client'

const quick = process.argv.includes('--quick')
const { sessions, turns, events } = quick
  ? { sessions: 8, turns: 32, events: 4_000 }
  : { sessions: 500, turns: 5_000, events: 1_000_000 }
const turnsOfOne = turns / sessions
const eventsOfOne = Math.round(events / turns)

const cli = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'agentproto-soak-'))
const { client, pid, stop } = await startDaemon()
const report = []
try {
  // By now everything that stays open is open.
  await oneSession()
  await atRest()
  report.push(measure('start'))
  for (let at = 1; at <= sessions; at++) {
    await oneSession()
    if (at % (sessions / 4) === 0) {
      await settled(at)
      report.push(measure(`${(at * 100) / sessions} %`))
    }
  }
} finally {
  await stop()
  rmSync(root, { recursive: true, force: true })
}
const [start, first, , , last] = report
const flat = last.rssMb <= first.rssMb * 1.15
const tight = last.descriptors <= start.descriptors
console.log(JSON.stringify({ sessions, turns, events, report, flat, tight }))
// The memory of a short run means nothing: it is still warming up.
process.exitCode = (flat || quick) && tight ? 0 : 1

async function startDaemon() {
  const env = { ...process.env, HOME: root, AGENTPROTO_HOME: join(root, 'home'), AGENTPROTO_DEMO_HOME: root }
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise((resolve) => createInterface(child.stdout).once('line', resolve))
  const token = readFileSync(join(root, 'home', 'token'), 'utf8').trim()
  const end = () => {
    child.kill('SIGTERM')
    return exited
  }
  return { client: createClient({ url, token }), pid: child.pid, stop: end }
}

async function oneSession() {
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: root })
  for (let turn = 0; turn < turnsOfOne; turn++) {
    // Reads the events of the turn to its end.
    await client.sessions.promptAndWait(id, { prompt: `flood ${eventsOfOne}` })
  }
  await client.sessions.output(id, 10)
  await client.sessions.kill(id)
  await client.sessions.remove(id)
}

/** Waits until the kept-alive connections of the last requests are closed. */
async function atRest() {
  let since = Date.now()
  for (let before = descriptors(); Date.now() - since < 8_000; await pause()) {
    const now = descriptors()
    if (now !== before) since = Date.now()
    before = now
  }
}

/** A connection stays open for five seconds after its last call: a short run waits for that only once. */
async function settled(at) {
  if (!quick || at === sessions) await downTo(report[0].descriptors)
}

/** Counts again later: what is open after a minute has leaked. */
async function downTo(count) {
  for (let tries = 0; tries < 300 && descriptors() > count; tries++) await pause()
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, 200))
}

function measure(at) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const rssMb = Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)[1]) / 1024)
  const one = { at, rssMb, descriptors: descriptors() }
  console.error(`${at}: ${rssMb} MB, ${one.descriptors} descriptors`)
  return one
}

function descriptors() {
  return readdirSync(`/proc/${pid}/fd`).length
}
