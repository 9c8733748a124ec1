// Three gateways on three NATS servers: at random one of them is killed, frozen or cut off, while readers and callers at the other hosts
// go on. At the end each session has one owner, and its log is the same wherever it is read: nothing lost, repeated or reordered.
//
//   node e2e/chaos/fleet.mjs --minutes 10 --sessions 60 [--seed 1]
//
// The last line is `fleet: 40 faults made (9 gateway killed, …), 60 sessions, 1234 turns, 123456 events, 0 faults found`; the exit
// code is 1 when there are faults.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchNats } from '../../tooling/nats-servers.mjs'
import { callUntilAnswered, freePort, startDaemon } from './daemon.mjs'
import { followSession } from './follower.mjs'
import { agentPids, markedProcesses } from './processes.mjs'
import { seededRandom } from './random.mjs'
import { LogCheck, logOf } from './session-check.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    sessions: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    verbose: { type: 'boolean', default: false },
    /** Leaves the folders, to look into the logs. */
    keep: { type: 'boolean', default: false },
  },
})
const sessionCount = Number(values.sessions)
const until = Date.now() + Number(values.minutes) * 60_000
const random = seededRandom(Number(values.seed))

const HOSTS = ['one', 'two', 'three']
/** What is tried again. */
const AWAY = new Set(['host_unreachable', 'cluster_unavailable', 'timeout'])
/** Milliseconds; a frozen gateway is away for longer. */
const LEASE_MS = 5_000

const root = mkdtempSync(join(tmpdir(), 'agentproto-fleet-'))
const found = []
const fault = (what) => {
  found.push(what)
  console.error(`after ${sum(made)} faults made: ${what}`)
}
let tokens = 0
const printed = []
const made = {
  'gateway killed': 0,
  'gateway frozen': 0,
  'NATS server killed': 0,
  'NATS server frozen': 0,
  'NATS away': 0,
}
const nats = await launchNats(3)
const hosts = await Promise.all(HOSTS.map(prepareHost))

try {
  for (const host of hosts) host.daemon = await start(host)
  await untilAll(() => hosts.every(({ daemon }) => daemon !== undefined))
  await untilTogether()
  const sessions = []
  for (let i = 0; i < sessionCount; i += 1) sessions.push(await openSession(hosts[i % hosts.length], i))
  const working = sessions.map((session) => work(session).catch((error) => fault(`${session.id}: ${error.message}`)))

  while (Date.now() < until) {
    await pause(1_000 + random() * 4_000)
    await makeFault()
    console.error(`${sum(made)} faults made, ${found.length} found`)
  }

  for (const session of sessions) session.isFinished = true
  await Promise.all(working)
  const counts = { turns: 0, events: 0 }
  for (const session of sessions) await check(session, counts)
  await checkOwners(sessions)
  for (const { daemon } of hosts) await daemon.stop()
  await untilNoneIsLeft()
  const list = Object.entries(made).map(([what, times]) => `${times} ${what}`)
  console.log(
    `fleet: ${sum(made)} faults made (${list.join(', ')}), ${sessionCount} sessions, ${counts.turns} turns, ` +
      `${counts.events} events, ${found.length} faults found (seed ${values.seed})`,
  )
  process.exitCode = found.length === 0 ? 0 : 1
} finally {
  console.error(printed.join('').slice(-4_000))
  for (const { daemon } of hosts) await daemon?.crash().catch(() => undefined)
  await nats.stop()
  if (!values.keep) rmSync(root, { recursive: true, force: true })
  else console.error(root)
}

/** A home, and the key that the hosts share. */
async function prepareHost(name) {
  const folder = join(root, name)
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const key = join(root, 'fleet.key')
  if (name === HOSTS[0]) writeFileSync(key, randomBytes(32).toString('base64url'), { mode: 0o600 })
  const cluster = { servers: nats.servers.map(({ url }) => url), key, host: name, leaseMs: LEASE_MS }
  writeFileSync(join(home, 'config.json'), JSON.stringify({ keeper: true, cluster }))
  return { name, folder, home, port: await freePort(), daemon: undefined }
}

function start({ folder, port }) {
  return startDaemon(folder, {
    port,
    onPrinted: values.verbose ? (text) => process.stderr.write(text) : (text) => printed.push(text),
  })
}

/** Each host sees all of them. */
async function untilTogether() {
  await untilAll(async () => {
    for (const { daemon } of hosts) {
      const { hosts: seen } = await daemon.call('GET', '/hosts')
      if (seen.filter(({ reachable }) => reachable).length < hosts.length) return false
    }
    return true
  })
}

async function openSession(owner, number) {
  const cwd = join(owner.folder, `session-${number}`)
  mkdirSync(cwd)
  const { id } = await owner.daemon.call('POST', '/sessions/agent', {
    adapter: 'demo',
    cwd,
    label: `session-${number}`,
  })
  const others = hosts.filter((host) => host !== owner)
  const session = { id, owner, others, cwd, tokens: new Map(), pids: agentPids(owner.folder, id), isFinished: false }
  // Each reader is at one other host for the whole run.
  const reader = others[number % others.length]
  session.follower = followSession(id, () => reader.daemon)
  return session
}

/** Prompts the session through the other hosts, one turn after the other. */
async function work(session) {
  while (!session.isFinished) {
    const token = `t${(tokens += 1)}`
    const at = pick(session.others)
    const { turn } = await answered(at, 'POST', `/sessions/${session.id}/prompt`, {
      prompt: `stream 60 20; ${token}`,
      idempotencyKey: token,
      whenBusy: 'queue',
    })
    session.tokens.set(token, turn)
    while (
      (await answered(pick(session.others), 'GET', `/sessions/${session.id}/turns/${turn}?waitSeconds=5`)).state !==
      'ended'
    );
  }
}

/** Over any absence of the host that is called, and of the owner. */
async function answered(host, method, path, body) {
  for (;;) {
    try {
      return await callUntilAnswered(() => host.daemon, { method, path, body })
    } catch (error) {
      if (!AWAY.has(error.code)) throw error
      await pause(200)
    }
  }
}

async function makeFault() {
  const what = pick(Object.keys(made))
  made[what] += 1
  switch (what) {
    case 'gateway killed': {
      const host = pick(hosts)
      await host.daemon.crash()
      await pause(random() * 3_000)
      host.daemon = await start(host)
      return
    }
    case 'gateway frozen': {
      const { pid } = pick(hosts).daemon
      process.kill(pid, 'SIGSTOP')
      await pause(LEASE_MS * (1.2 + random()))
      process.kill(pid, 'SIGCONT')
      return
    }
    case 'NATS server killed': {
      const server = pick(nats.servers)
      await server.kill()
      await pause(random() * 5_000)
      await server.start()
      return
    }
    case 'NATS server frozen': {
      const server = pick(nats.servers)
      server.freeze()
      await pause(1_000 + random() * 7_000)
      server.thaw()
      return
    }
    case 'NATS away': {
      for (const server of nats.servers) await server.kill()
      await pause(20_000)
      await Promise.all(nats.servers.map((server) => server.start()))
      return
    }
  }
}

/** The log as its owner has it, and the same at the others. */
async function check(session, counts) {
  const { id, owner, others, follower, pids } = session
  const faultOf = (what) => fault(`${id} of ${owner.name}: ${what}`)
  const now = agentPids(owner.folder, id)
  if (pids.some((pid) => !now.includes(pid))) faultOf(`its agent is ${now.join()} in place of ${pids.join()}`)
  for (const other of others)
    if (agentPids(other.folder, id).length > 0) faultOf(`an agent of it runs on ${other.name}`)
  await answered(owner, 'POST', `/sessions/${id}/kill`, {})
  const lines = []
  const log = new LogCheck(faultOf)
  const ends = new Map()
  for await (const line of logOf(owner.daemon, id)) {
    lines.push(line)
    const event = log.take(JSON.parse(line))
    if (event.type === 'turn-end') ends.set(event.turn, event.reason)
  }
  log.end()
  for (const [token, turn] of session.tokens)
    if (ends.get(turn) !== 'end_turn') faultOf(`turn ${turn} (${token}) ended as ${ends.get(turn)}`)
  for (const { name, daemon } of others) await sameAt(name, daemon)
  follower.stopped = true
  for (const each of follower.faults) faultOf(`its reader: ${each}`)
  counts.turns += ends.size
  counts.events += lines.length

  async function sameAt(name, daemon) {
    let at = 0
    for await (const line of logOf(daemon, id)) {
      if (line !== lines[at]) return faultOf(`line ${at + 1} of its log is another one on ${name}`)
      at += 1
    }
    if (at !== lines.length) faultOf(`its log has ${at} lines on ${name} in place of ${lines.length}`)
  }
}

/** All hosts say the same about whose each session is. */
async function checkOwners(sessions) {
  for (const { name, daemon } of hosts)
    for (const { id, owner } of sessions) {
      const { hostId } = await daemon.call('GET', `/sessions/${id}`)
      if (hostId !== owner.name) fault(`${id} is a session of ${hostId} for ${name} in place of ${owner.name}`)
    }
}

async function untilNoneIsLeft() {
  const left = () => hosts.flatMap(({ folder }) => markedProcesses(folder))
  await untilAll(() => left().length === 0, 10_000).catch(() =>
    fault(`at the end: processes ${left().join(', ')} are left`),
  )
}

async function untilAll(isSo, ms = 60_000) {
  const end = Date.now() + ms
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`It took longer than ${ms} ms`)
    await pause(100)
  }
}

function pick(list) {
  return list[Math.floor(random() * list.length)]
}

function sum(counted) {
  return Object.values(counted).reduce((all, each) => all + each, 0)
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
