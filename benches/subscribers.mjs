// One session that is followed by many clients at once.
import { startDaemon, startSession } from './gateway.mjs'
import { now } from './measure.mjs'
import { k, row } from './table.mjs'

export async function subscribers({ home, cwd, subscriberCount, fanOut }) {
  const { http, stop } = await startDaemon(home, cwd)
  const id = await startSession(http, cwd)
  const delivered = await deliveredPerSecond(http, { id, clients: subscriberCount, fanOut })
  await stop()
  return [row(`events delivered to ${subscriberCount} subscribers`, delivered, { least: 400_000, unit: k })]
}

async function deliveredPerSecond(http, { id, clients, fanOut }) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const streams = await Promise.all(
    Array.from({ length: clients }, () => subscribe(http, `/sessions/${id}/events?after=${lastSeq}`)),
  )
  const began = now()
  await http.call('POST', `/sessions/${id}/prompt`, { prompt: `flood ${fanOut}` })
  const counts = await Promise.all(streams.map(({ ended }) => ended))
  const seconds = (now() - began) / 1_000
  for (const stream of streams) stream.close()
  const events = counts[0]
  if (counts.some((count) => count !== events)) throw new Error('a subscriber lost events')
  return (events * clients) / seconds
}

async function subscribe(http, path) {
  let events = 0
  let done
  const ended = new Promise((resolve) => (done = resolve))
  let tail = ''
  const stream = await http.stream(path, (chunk) => {
    const text = tail + chunk.toString('latin1')
    // What a split marker needs of the chunk before it; a whole one is never counted twice.
    let at = text.indexOf('\nevent: ')
    while (at >= 0 && at + 20 <= text.length) {
      events += 1
      if (text.startsWith('turn-end', at + 8)) done(events)
      at = text.indexOf('\nevent: ', at + 8)
    }
    tail = at >= 0 ? text.slice(at) : text.slice(-7)
  })
  return { ended, close: stream.close }
}
