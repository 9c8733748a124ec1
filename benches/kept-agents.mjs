// Agents whose pipes the keeper holds, beside direct pipes; then a gateway that is killed while all of them stream.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { lookAtKeeper } from '@agentproto/keeper'
import { byTurns } from './by-turns.mjs'
import { followFlood } from './follow-flood.mjs'
import { startDaemon, startSession } from './gateway.mjs'
import { startMany } from './many-sessions.mjs'
import { cpuSeconds, memoryShare, now } from './measure.mjs'
import { connectRaw, startRaw } from './raw-client.mjs'
import { startRelay } from './relay.mjs'
import { k, mb, ms, row } from './table.mjs'

/** Milliseconds between two events of one agent. */
const PACE_MS = 20

export async function keptAgents({ home, cwd, prompts, warmUp, flood, sessions, raw }) {
  const [direct, kept] = await Promise.all([
    startDaemon(`${home}-direct`, cwd),
    startDaemon(`${home}-kept`, cwd, { keeper: true }),
  ])
  const keeper = await keeperOf(kept)
  const trips = await promptBoth([direct, kept], cwd, { prompts, warmUp, keeper })
  const least = await leastBoth(`${home}-relay.sock`, cwd, { prompts, warmUp })
  const [beside, through] = [await streamOnce(direct, cwd, flood), await streamOnce(kept, cwd, flood)]
  await Promise.all([direct.stop(), kept.stop()])
  const restart = await restartMany(`${home}-restarted`, cwd, sessions)
  return [
    row('the least keeper: prompt through a bare relay, beyond direct pipes, p50', least.beyondMs, { unit: ms }),
    row('  processor time of the relay', least.relayCpuMs, { unit: ms }),
    row('prompt through the keeper, beyond direct pipes, p50', trips.beyondMs, {
      most: 0.1,
      unit: ms,
      of: least.beyondMs,
    }),
    row('  processor time of it, gateway and keeper', trips.beyondCpuMs, { unit: ms, of: trips.cpuMs }),
    row('streaming through the keeper, HTTP SSE client, logged', through, {
      least: 120_000,
      unit: k,
      of: raw.perSecond,
    }),
    row('  with direct pipes', beside, { unit: k, of: raw.perSecond }),
    row(`killed gateway → new event, first of ${sessions} sessions`, restart.firstMs, { most: 1_000, unit: ms }),
    row(`  last of ${sessions} sessions`, restart.lastMs, { unit: ms }),
    row(`memory of the keeper, ${sessions} agents`, restart.keeperMb, { most: 45, unit: mb }),
  ]
}

const keeperOf = async ({ home }) => (await lookAtKeeper(join(home, 'keeper'))).info.pid

/** By turns, so that both meet the same machine. */
async function promptBoth([direct, kept], cwd, { prompts, warmUp, keeper }) {
  const prompt = async ({ http }) => {
    const path = `/sessions/${await startSession(http, cwd)}/prompt`
    return () => http.call('POST', path, { prompt: 'x', wait: true })
  }
  const [promptDirect, promptKept] = [await prompt(direct), await prompt(kept)]
  const cpu = () => [cpuSeconds(direct.pid), cpuSeconds(kept.pid) + cpuSeconds(keeper)]
  const { beyondMs, cpuMs } = await byTurns([promptDirect, promptKept], { prompts, warmUp, cpu })
  return { beyondMs, cpuMs: cpuMs[0], beyondCpuMs: cpuMs[1] - cpuMs[0] }
}

/** The raw client before its own agent, and before one behind a relay. */
async function leastBoth(path, cwd, { prompts, warmUp }) {
  const relay = await startRelay(cwd, path)
  const [direct, relayed] = [await startRaw(cwd), await connectRaw(cwd, relay)]
  const promptOf = (agent) => () => agent.prompt('x')
  const cpu = () => [cpuSeconds(relay.pid)]
  const { beyondMs, cpuMs } = await byTurns([promptOf(direct), promptOf(relayed)], { prompts, warmUp, cpu })
  await Promise.all([direct.stop(), relayed.stop()])
  return { beyondMs, relayCpuMs: cpuMs[0] }
}

async function streamOnce({ http }, cwd, flood) {
  const id = await startSession(http, cwd)
  return (flood / (await followFlood(http, id, flood))) * 1_000
}

async function restartMany(home, cwd, sessions) {
  const first = await startDaemon(home, cwd, { keeper: true })
  const ids = await startMany(first.http, { cwd, sessions })
  const keeper = await keeperOf(first)
  for (const id of ids) await first.http.call('POST', `/sessions/${id}/prompt`, { prompt: `stream 1000000 ${PACE_MS}` })
  const keeperMb = memoryShare(keeper)
  await first.crash()
  const last = ids.map((id) => lastSeqOf(join(home, 'sessions', id, 'events.jsonl')))
  const began = now()
  const next = await startDaemon(home, cwd, { keeper: true })
  const times = await Promise.all(
    ids.map((id, at) => firstEvent(next.http, `/sessions/${id}/events?after=${last[at]}`)),
  )
  await next.stop()
  return { keeperMb, firstMs: Math.min(...times) - began, lastMs: Math.max(...times) - began }
}

/** The number of the last event that is stored. */
function lastSeqOf(file) {
  const descriptor = openSync(file, 'r')
  const { size } = fstatSync(descriptor)
  const tail = Buffer.alloc(Math.min(size, 64 << 10))
  readSync(descriptor, tail, 0, tail.length, size - tail.length)
  closeSync(descriptor)
  const line = tail.toString('utf8').trimEnd().split('\n').at(-1)
  return JSON.parse(line).seq
}

/** When it arrives. */
async function firstEvent(http, path) {
  let arrived
  const event = new Promise((resolve) => (arrived = resolve))
  const stream = await http.stream(path, (chunk) => {
    if (chunk.includes('id: ')) arrived(now())
  })
  const at = await event
  stream.close()
  return at
}
