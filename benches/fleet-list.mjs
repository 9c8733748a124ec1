// The list of the sessions of fifty hosts from the watched copy, over HTTP and by the service alone.
import { setTimeout as sleep } from 'node:timers/promises'
import { HostDirectory, SessionDirectory, fleetServices, fleetView, openCluster } from '@agentproto/fleet/parts'
import { systemClock } from '@agentproto/contracts'
import { jetstream } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { startBarePage } from './bare-page.mjs'
import { byTurns } from './by-turns.mjs'
import { startSession } from './gateway.mjs'
import { median, now, timeEach } from './measure.mjs'
import { ms, row } from './table.mjs'

const HOSTS = 50
const BEAT_MS = 3_000

/** @param one a gateway of the fleet, which lists the sessions of all */
export async function fleetList(one, { cwd, cluster, stored }) {
  const model = await one.http.call('GET', `/sessions/${await startSession(one.http, cwd)}`)
  const writer = await openCluster({ ...cluster, onProblem: (problem) => console.error(problem) })
  const hosts = await beatAs(writer, HOSTS)
  try {
    const bytes = await writeSessions(writer, { model, stored })
    await seen(one, stored)
    const http = await overHttp(one, stored)
    const alone = await byService(cluster, stored)
    const all = `list of ${stored} sessions of ${HOSTS} hosts`
    return [
      row(`${all}, newest hundred, over HTTP, p50`, http.pageMs, { most: 50, unit: ms }),
      row('  sessions of one host', http.filterMs, { most: 50, unit: ms }),
      row('  by a filter that matches none', http.noneMs, { most: 50, unit: ms }),
      row('  every page of a thousand', http.walkMs, { unit: ms }),
      row('  one page of all', http.allMs, { unit: ms, of: http.bareMs }),
      row('    the same bytes from a bare Node server', http.bareMs, { unit: ms }),
      row(`${all}, by the service alone, first`, alone.firstMs, { most: 50, unit: ms }),
      row('  all, p50', alone.allMs, { most: 50, unit: ms }),
      row('  newest hundred', alone.pageMs, { most: 50, unit: ms }),
      row('  sessions of one host', alone.filterMs, { most: 50, unit: ms }),
      row('  bytes of a record', bytes, { unit: (value) => `${value.toFixed(0)} B` }),
    ]
  } finally {
    await hosts.stop()
    await writer.close()
  }
}

const hostName = (at) => `simulated-${at}`

/** Stores a record as a gateway does. @returns its revision */
async function store({ nats, signatures }, { subject, record, expected }) {
  const body = Buffer.from(JSON.stringify(record))
  const signed = signatures.sign({ subject, headers: headers(), body, expected })
  const { seq } = await jetstream(nats).publish(subject, body, {
    headers: signed,
    expect: { lastSubjectSequence: expected },
  })
  return seq
}

/** Heartbeats of hosts that are not there. */
async function beatAs(cluster, count) {
  const details = {
    version: '0.0.0',
    labels: {},
    liveSessions: 0,
    freeSessions: 0,
    adapters: [],
    workspaces: [],
    lag: 0,
  }
  const revisions = Array.from({ length: count }, () => 0)
  const beat = async (at) => {
    const host = hostName(at)
    const record = { ...details, host, run: `r_${at}`, term: `t_${at}` }
    revisions[at] = await store(cluster, { subject: `$KV.agentproto-hosts.${host}`, record, expected: revisions[at] })
  }
  const beatAll = () => Promise.all(Array.from({ length: count }, (_, at) => beat(at)))
  const stopping = new AbortController()
  const { signal } = stopping
  await beatAll()
  const beating = (async () => {
    while (await sleep(BEAT_MS, true, { signal }).catch(() => false)) await beatAll()
  })()
  return { stop: () => (stopping.abort(), beating) }
}

/** @returns bytes of one record */
async function writeSessions(cluster, { model, stored }) {
  const newest = Date.parse(model.startedAt) - 1_000
  const recordOf = (at) => {
    const hostId = hostName(at % HOSTS)
    const startedAt = new Date(newest - ((at * 7_919) % stored) * 1_000).toISOString()
    const session = { ...model, id: `s_simulated_${at}`, hostId, startedAt, lastActiveAt: startedAt }
    return { owner: hostId, epoch: 1, term: `t_${at % HOSTS}`, session }
  }
  const write = (at) =>
    store(cluster, { subject: `$KV.agentproto-sessions.s_simulated_${at}`, record: recordOf(at), expected: 0 })
  for (let from = 0; from < stored; from += 256)
    await Promise.all(Array.from({ length: Math.min(256, stored - from) }, (_, at) => write(from + at)))
  return Buffer.byteLength(JSON.stringify(recordOf(0)))
}

async function seen({ http }, stored) {
  for (let found = 0; found < Math.min(stored, 10_000);)
    found = (await http.call('GET', '/sessions?limit=10000')).sessions.length
}

async function overHttp({ http }, stored) {
  const timed = async (query) => median(await timeEach(20, 5, () => http.call('GET', `/sessions${query}`)))
  const list = (query) => http.call('GET', `/sessions?limit=1000${query}`)
  const [walkMs] = await timeEach(1, 0, () => walk(list, stored))
  return {
    ...(await besideBare(http)),
    pageMs: await timed('?limit=100'),
    filterMs: await timed(`?limit=10000&host=${hostName(7)}`),
    noneMs: await timed('?limit=10000&label=none'),
    walkMs,
  }
}

/** By turns: what is left of one page of all is for the client, which reads and parses 17 MB. */
async function besideBare(http) {
  const { text } = await http.send('GET', ALL)
  const bare = await startBarePage(text)
  const { firstMs, secondMs } = await byTurns([() => http.call('GET', ALL), () => bare.http.call('GET', ALL)], {
    prompts: 20,
    warmUp: 5,
    each: 5,
  })
  await bare.stop()
  return { allMs: firstMs, bareMs: secondMs }
}

const ALL = '/sessions?limit=10000'

/** Every page of the list, by its cursors, newest first. */
async function walk(list, stored) {
  let count = 0
  for (let after = ''; ;) {
    const { sessions, nextCursor } = await list(after)
    count += sessions.length
    if (nextCursor === undefined) break
    after = `&after=${nextCursor}`
  }
  if (count < stored) throw new Error(`${count} of ${stored} sessions were listed`)
}

/** The services of a host that has no sessions of its own. */
async function byService(joining, stored) {
  const onProblem = (problem) => console.error(problem)
  const options = { ...joining, host: 'bench', clock: systemClock, onProblem }
  const cluster = await openCluster(options)
  const describe = () => ({
    version: '0',
    labels: {},
    liveSessions: 0,
    freeSessions: 0,
    adapters: [],
    workspaces: [],
    lag: 0,
  })
  const hosts = await HostDirectory.join(cluster, { ...options, describe })
  const nothing = () => undefined
  const ends = { onFenced: nothing, onSuspended: nothing, onReleased: nothing }
  const sessions = await SessionDirectory.open({ cluster, hosts, onProblem, ...ends })
  const own = { sessions: { list: async () => ({ sessions: [] }) } }
  const services = fleetServices({ host: 'bench', own, view: fleetView(hosts, sessions) })
  const list = async (filter) => (await services.sessions.list(filter)).sessions.length
  const began = now()
  const count = await list({ limit: 10_000 })
  const firstMs = now() - began
  if (count < Math.min(stored, 10_000)) throw new Error(`${count} of ${stored} sessions were listed`)
  const timed = async (filter) => median(await timeEach(20, 5, () => list(filter)))
  const figures = {
    firstMs,
    allMs: await timed({ limit: 10_000 }),
    pageMs: await timed({ limit: 100 }),
    filterMs: await timed({ host: hostName(7) }),
  }
  sessions.close()
  await hosts.close()
  await cluster.close()
  return figures
}
