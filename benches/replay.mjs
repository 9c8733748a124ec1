// A long log of a session that ended, from the disk to an HTTP client: as SSE and as JSON pages.
import { buildHome } from './big-home.mjs'
import { startDaemon } from './gateway.mjs'
import { now, peakRss } from './measure.mjs'
import { k, mb, row } from './table.mjs'

export async function replay({ home, cwd, events, raw }) {
  const id = await buildHome({ home, cwd, stored: 1, events })
  const { http, pid, stop } = await startDaemon(home, cwd)
  const paged = await replayPages(http, id, events)
  const peak = peakRss(pid)
  const streamed = await replayStream(http, id, events)
  const memory = peak.stop()
  await stop()
  const of = raw.perSecond
  return [
    row(`replay of ${events} events, SSE`, streamed, { least: 500_000, unit: k, of }),
    row('  as JSON pages', paged, { least: 300_000, unit: k, of }),
    row('  memory, peak', memory, { most: 200, unit: mb }),
  ]
}

async function replayPages(http, id, events) {
  const began = now()
  let seen = 0
  for (let after = 0; after < events;) {
    const page = await http.call('GET', `/sessions/${id}/events?after=${after}&limit=10000`)
    seen += page.events.length
    after = page.nextAfter
  }
  if (seen !== events) throw new Error(`${seen} of ${events} events were read`)
  return (seen / (now() - began)) * 1_000
}

/** Counted by the empty line behind each message, so that the reader is not what is measured. */
async function replayStream(http, id, events) {
  const began = now()
  let seen = 0
  let last = 0
  let done
  const all = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=0`, (chunk) => {
    if (last === NEWLINE && chunk[0] === NEWLINE) seen += 1
    for (let at = chunk.indexOf('\n\n'); at >= 0; at = chunk.indexOf('\n\n', at + 2)) seen += 1
    last = chunk.at(-1)
    if (seen >= events) done()
  })
  stream.response.once('close', done)
  await all
  stream.close()
  return (events / (now() - began)) * 1_000
}

const NEWLINE = 10
