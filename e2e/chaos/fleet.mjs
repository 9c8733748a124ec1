// Three gateways on three NATS servers: at random one of them is killed, frozen, lost for longer or cut off, while readers and callers
// at the other hosts go on. At the end each session has one owner, and its log is the same at its owner, at the other hosts, in the NATS
// servers, and at a reader that followed it: nothing lost, repeated or reordered. No session ever has agents on two hosts.
//
//   node e2e/chaos/fleet.mjs --minutes 10 --sessions 60 [--movers 6] [--seed 1]
//   node e2e/chaos/fleet.mjs --once --sessions 3 --movers 1        each kind of fault once
//
// The last line is `fleet: 40 faults made (9 gateway killed, …), 60 sessions, 6 that may move (4 moves, which lost 20
// events), 1234 turns, 123456 events, 0 faults found`; the exit code is 1 when there are faults.
import { tmpdir } from 'node:os'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { launchNats } from '../../tooling/nats-servers.mjs'
import { FAULTS, pause, pick } from './fleet-faults.mjs'
import { prepareHosts } from './fleet-hosts.mjs'
import { FleetSession } from './fleet-session.mjs'
import { watchAgents } from './fleet-owners.mjs'
import { markedProcesses } from './processes.mjs'
import { calmTurns } from './prompts.mjs'
import { seededRandom } from './random.mjs'
import { openStoredLogs } from './stored-log.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    /** Each kind of fault once, in place of minutes. */
    once: { type: 'boolean', default: false },
    sessions: { type: 'string', default: '60' },
    /** Further sessions, which go on at another host when theirs is lost. */
    movers: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    /** Milliseconds: the lease of a host, and how long all of NATS is away. */
    lease: { type: 'string', default: '5000' },
    away: { type: 'string', default: '20000' },
    verbose: { type: 'boolean', default: false },
    /** Leaves the folders, to look into the logs. */
    keep: { type: 'boolean', default: false },
  },
})
const sessionCount = Number(values.sessions)
const moverCount = Number(values.movers)
const random = seededRandom(Number(values.seed))
/** A host that is lost for long differs from one that is killed only for sessions that may move. */
const kinds = Object.keys(FAULTS).filter((what) => moverCount > 0 || what !== 'host lost')

const root = mkdtempSync(join(tmpdir(), 'agentproto-fleet-'))
const found = []
const made = Object.fromEntries(kinds.map((what) => [what, 0]))
const madeCount = () => Object.values(made).reduce((all, each) => all + each, 0)
const fault = (what) => {
  found.push(what)
  console.error(`after ${madeCount()} faults made: ${what}`)
}
const printed = []
const nats = await launchNats(3)
const servers = nats.servers.map(({ url }) => url)
const hosts = await prepareHosts(['one', 'two', 'three'], {
  root,
  servers,
  leaseMs: Number(values.lease),
  onPrinted: (text) => (values.verbose ? process.stderr.write(text) : printed.push(text)),
})

try {
  for (const host of hosts) await host.start()
  await untilTogether()
  const calm = await calmTurns(hosts[0].daemon, root, FleetSession.kinds)
  const sessions = []
  for (let i = 0; i < sessionCount + moverCount; i += 1)
    sessions.push(await FleetSession.start({ hosts, number: i, mayMove: i >= sessionCount, random, fault }))
  const agents = watchAgents(fault)
  const working = sessions.map((session) => session.work())

  for (const what of plan()) {
    await pause(values.once ? 500 + random() * 1_000 : 1_000 + random() * 4_000)
    made[what] += 1
    await FAULTS[what]({
      hosts,
      servers: nats.servers,
      leaseMs: Number(values.lease),
      awayMs: Number(values.away),
      random,
    })
    console.error(`${madeCount()} faults made (${what}), ${found.length} found`)
  }

  for (const session of sessions) session.finish()
  await Promise.all(working)
  await untilTogether()
  const counts = await checkAll(sessions, calm)
  agents.stop()
  if (agents.looks === 0) fault('nobody has looked at the agents')
  for (const { daemon } of hosts) await daemon.stop()
  await untilNoneIsLeft()
  const list = Object.entries(made).map(([what, times]) => `${times} ${what}`)
  console.log(
    `fleet: ${madeCount()} faults made (${list.join(', ')}), ${sessionCount} sessions, ` +
      `${moverCount} that may move (${counts.moves} moves, which lost ${counts.lost} events), ${counts.turns} turns, ${counts.events} events, ` +
      `${found.length} faults found (seed ${values.seed})`,
  )
  process.exitCode = found.length === 0 ? 0 : 1
} finally {
  console.error(printed.join('').slice(-4_000))
  for (const { daemon } of hosts) await daemon?.crash().catch(() => undefined)
  await nats.stop()
  if (!values.keep) rmSync(root, { recursive: true, force: true })
  else console.error(root)
}

/** What goes wrong, one after the other: each kind once, or any for some minutes. */
function* plan() {
  if (values.once) return yield* shuffled(kinds)
  for (const until = Date.now() + Number(values.minutes) * 60_000; Date.now() < until;) yield pick(kinds, random)
}

function shuffled(list) {
  const rest = [...list]
  return list.map(() => rest.splice(Math.floor(random() * rest.length), 1)[0])
}

/** First while all hosts answer, then each session at hosts that cannot ask its owner any more. */
async function checkAll(sessions, calm) {
  const logs = await openStoredLogs(servers)
  const counts = { turns: 0, events: 0, moves: 0, lost: 0 }
  for (const session of sessions) {
    const checked = await session.check({ calm, stored: logs })
    counts.turns += checked.turns
    counts.events += checked.events
    counts.moves += checked.moves
    counts.lost += checked.lost
  }
  await logs.close()
  for (const host of hosts) {
    await host.daemon.stop()
    for (const session of sessions) await session.checkWithout(host)
    await host.start()
    await untilTogether()
  }
  return counts
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

async function untilNoneIsLeft() {
  const left = () => hosts.flatMap(({ folder }) => markedProcesses(folder))
  await untilAll(() => left().length === 0, 10_000).catch(() =>
    fault(`at the end: processes ${left().join(', ')} are left`),
  )
}

async function untilAll(isSo, ms = 90_000) {
  const end = Date.now() + ms
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`It took longer than ${ms} ms`)
    await pause(100)
  }
}
