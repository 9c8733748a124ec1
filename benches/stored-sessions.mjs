// A home that has many stored sessions: how long a boot and a list take, and the memory they need.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buildHome } from './big-home.mjs'
import { startDaemon } from './gateway.mjs'
import { median, rss, timeEach } from './measure.mjs'
import { mb, ms, row } from './table.mjs'

export async function storedSessions({ home, cwd, stored }) {
  await buildHome({ home, cwd, stored, events: 100 })
  const unindexedMs = await bootWithoutIndex(home, cwd)
  const { http, pid, startMs, stop } = await startDaemon(home, cwd)
  const list = (query) => http.call('GET', `/sessions?limit=1000${query}`)
  const listMs = median(await timeEach(20, 5, () => http.call('GET', '/sessions')))
  const filterMs = median(await timeEach(20, 5, () => list('&label=none')))
  await walk(list, stored)
  const memory = rss(pid)
  await stop()
  return [
    row(`start with ${stored} stored sessions`, startMs, { most: 2_000, unit: ms }),
    row('  without their index, as after a crash', unindexedMs, { most: 2_000, unit: ms }),
    row('  list of the newest hundred', listMs, { most: 30, unit: ms }),
    row('  list by a filter that matches none', filterMs, { most: 30, unit: ms }),
    row('  memory after all pages of the list', memory, { most: 200, unit: mb }),
  ]
}

/** Every page of the list, by its cursors. */
async function walk(list, stored) {
  let seen = 0
  for (let after = ''; ;) {
    const page = await list(after)
    seen += page.sessions.length
    if (page.nextCursor === undefined) break
    after = `&after=${page.nextCursor}`
  }
  if (seen !== stored) throw new Error(`${seen} of ${stored} sessions were listed`)
}

/** As after a crash in the middle of things: each record is read from its folder. */
async function bootWithoutIndex(home, cwd) {
  await rm(join(home, 'sessions.json'))
  const { startMs, stop } = await startDaemon(home, cwd)
  await stop()
  return startMs
}
