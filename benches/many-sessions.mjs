// Fifty sessions in one gateway: idle, then all streaming at once beside a reader that has stalled.
import { sequenceChecker } from './http-client.mjs'
import { now, rss } from './measure.mjs'
import { startDaemon } from './over-http.mjs'

export async function benchManySessions({ home, cwd, sessions, updates }) {
  const daemon = await startDaemon(home, cwd)
  const { http, pid } = daemon
  const ids = []
  for (let i = 0; i < sessions; i += 1)
    ids.push((await http.call('POST', '/sessions/agent', { adapter: 'demo', cwd })).id)
  const idleRss = rss(pid)
  const stalled = await http.stream(`/sessions/${ids[0]}/events?after=0`)
  stalled.pause()
  let peakRss = 0
  const watch = setInterval(() => (peakRss = Math.max(peakRss, rss(pid))), 100)
  const began = now()
  await Promise.all(ids.map((id) => follow(http, id, updates)))
  const perSecond = ((sessions * updates) / (now() - began)) * 1_000
  clearInterval(watch)
  stalled.close()
  await daemon.stop()
  return { idleRss, peakRss, perSecond }
}

async function follow(http, id, updates) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const check = sequenceChecker(lastSeq + 1)
  let done
  const ended = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=${lastSeq}`, (chunk) => {
    check.push(chunk)
    if (check.ended) done()
  })
  await http.call('POST', `/sessions/${id}/prompt`, { prompt: `flood ${updates}` })
  await ended
  stream.close()
  if (check.next - lastSeq - 1 < updates) throw new Error(`session ${id} lost updates`)
}
