// Resident memory of `agentproto serve`: idle, with idle sessions, and the peak while all of them stream.
import { startDaemon } from './gateway.mjs'
import { startMany, streamMany } from './many-sessions.mjs'
import { peakRss, rss } from './measure.mjs'
import { mb, row } from './table.mjs'

export async function memory({ home, cwd, sessions, updates }) {
  const { http, pid, stop } = await startDaemon(home, cwd)
  const idle = rss(pid)
  const ids = await startMany(http, { cwd, sessions })
  const withSessions = rss(pid)
  const peak = peakRss(pid)
  await streamMany(http, ids, updates)
  const streaming = peak.stop()
  await stop()
  return [
    row('memory, idle', idle, { most: 90, unit: mb }),
    row(`memory, ${sessions} idle sessions`, withSessions, { most: 120, unit: mb }),
    row(`memory, ${sessions} sessions streaming, peak`, streaming, { most: 180, unit: mb }),
  ]
}
