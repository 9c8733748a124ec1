// Many sessions of one gateway that stream at the same time, beside a reader that has stalled.
import { followFlood } from './follow-flood.mjs'
import { startDaemon, startSession } from './gateway.mjs'
import { now } from './measure.mjs'
import { k, row } from './table.mjs'

export async function manySessions({ home, cwd, sessions, updates, raw }) {
  const { http, stop } = await startDaemon(home, cwd)
  const perSecond = await streamMany(http, await startMany(http, { cwd, sessions }), updates)
  await stop()
  return [
    row(`streaming, ${sessions} sessions and a stalled reader`, perSecond, {
      least: 120_000,
      unit: k,
      of: raw.perSecond,
    }),
  ]
}

/** @returns their ids */
export async function startMany(http, { cwd, sessions }) {
  const ids = []
  for (let i = 0; i < sessions; i += 1) ids.push(await startSession(http, cwd))
  return ids
}

/** @returns updates a second of all sessions together */
export async function streamMany(http, ids, updates) {
  const stalled = await http.stream(`/sessions/${ids[0]}/events?after=0`)
  stalled.pause()
  const began = now()
  await Promise.all(ids.map((id) => followFlood(http, id, updates)))
  const perSecond = ((ids.length * updates) / (now() - began)) * 1_000
  stalled.close()
  return perSecond
}
