// What a fleet costs, with three NATS servers on the same machine: a fleet of one beside no fleet, a session of another host beside
// an own one, and the list of the sessions of many hosts.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createFleetKey } from '@agentproto/fleet'
import { byTurns } from './by-turns.mjs'
import { fleetList } from './fleet-list.mjs'
import { followFlood } from './follow-flood.mjs'
import { startDaemon, startSession } from './gateway.mjs'
import { median, memoryShare } from './measure.mjs'
import { startNatsServers } from './nats.mjs'
import { k, mb, ms, percent, row } from './table.mjs'

/** Turns of each gateway: a stream of one shares the machine with what the one before has left to publish. */
const STREAMS = 5

export async function fleet({ home, cwd, prompts, warmUp, flood, stored }) {
  await mkdir(home, { recursive: true })
  const servers = await startNatsServers(home)
  if (servers === undefined) return []
  try {
    return await withServers(servers, { home, cwd, stored, prompts, warmUp, flood })
  } finally {
    await servers.stop()
  }
}

async function withServers({ urls }, { home, cwd, stored, ...size }) {
  const key = join(home, 'fleet.key')
  await createFleetKey(key)
  const cluster = { servers: urls, key }
  const alone = await startDaemon(join(home, 'alone'), cwd)
  const one = await startHost('one', { home, cwd, cluster })
  try {
    const fleetOfOne = await besideNoFleet(alone, one, { cwd, ...size })
    const remote = await besideLocal(one, { home, cwd, cluster, ...size })
    const list = await fleetList(one, { cwd, cluster, stored })
    return [...fleetOfOne, ...remote, ...list]
  } finally {
    await Promise.all([alone.stop(), one.stop()])
  }
}

/** A gateway that has joined. */
async function startHost(host, { home, cwd, cluster: { servers, key } }) {
  const daemon = await startDaemon(join(home, host), cwd, { cluster: { servers, key, host } })
  for (let isJoined = false; !isJoined;) isJoined = await hasJoined(daemon, host)
  return daemon
}

async function hasJoined({ http }, name) {
  const { hosts } = await http.call('GET', '/hosts')
  return hosts.some((each) => each.name === name && each.self && each.reachable)
}

async function besideNoFleet(alone, one, { cwd, prompts, warmUp, flood }) {
  const beyondMb = memoryShare(one.pid) - memoryShare(alone.pid)
  const { firstMs, secondMs } = await byTurns([await promptOf(alone, cwd), await promptOf(one, cwd)], {
    prompts,
    warmUp,
  })
  const [without, within] = await streamBoth(
    [
      { by: alone.http, id: await startSession(alone.http, cwd) },
      { by: one.http, id: await startSession(one.http, cwd) },
    ],
    flood,
  )
  return [
    row('memory of a gateway in a fleet, beyond one in none', beyondMb, { most: 40, unit: mb }),
    row('prompt over HTTP, no fleet, p50', firstMs, { unit: ms }),
    row('  a fleet of one, more than that', (secondMs / firstMs - 1) * 100, { most: 5, unit: percent }),
    row('streaming, no fleet, HTTP SSE client, logged', without, { unit: k }),
    row('  a fleet of one, published to three replicas, less than that', (1 - within / without) * 100, {
      most: 5,
      unit: percent,
    }),
  ]
}

async function besideLocal(one, { home, cwd, cluster, prompts, warmUp, flood }) {
  const two = await startHost('two', { home, cwd, cluster })
  try {
    for (let isKnown = false; !isKnown;) isKnown = (await one.http.call('GET', '/hosts')).hosts.length === 2
    const id = await startSession(two.http, cwd)
    const promptBy =
      ({ http }) =>
      () =>
        http.call('POST', `/sessions/${id}/prompt`, { prompt: 'x', wait: true })
    const { firstMs, beyondMs } = await byTurns([promptBy(two), promptBy(one)], { prompts, warmUp })
    const [local, remote] = await streamBoth(
      [
        { by: two.http, id },
        { by: one.http, id },
      ],
      flood,
    )
    return [
      row('prompt to an own session of a host of two, p50', firstMs, { unit: ms }),
      row('  asked at the other host, beyond that', beyondMs, { most: 1.5, unit: ms }),
      row('streaming to an SSE client at the host of the session', local, { unit: k }),
      row('  at the other host', remote, { least: 80_000, unit: k, of: local }),
    ]
  } finally {
    await two.stop()
  }
}

async function promptOf({ http }, cwd) {
  const path = `/sessions/${await startSession(http, cwd)}/prompt`
  return () => http.call('POST', path, { prompt: 'x', wait: true })
}

/** @returns p50 of the events a second of each, by turns */
async function streamBoth(targets, flood) {
  const updates = Math.ceil(flood / STREAMS)
  const rates = targets.map(() => [])
  for (let turn = 0; turn < STREAMS; turn += 1)
    for (const [at, { by, id }] of targets.entries())
      rates[at].push((updates * 1_000) / (await followFlood(by, id, updates)))
  return rates.map(median)
}
