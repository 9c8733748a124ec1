// Agent → HTTP SSE client, with the log written and nothing lost; then the same events from the log.
import { followFlood } from './follow-flood.mjs'
import { startDaemon, startSession } from './gateway.mjs'
import { sequenceChecker } from './http-client.mjs'
import { now } from './measure.mjs'
import { k, row } from './table.mjs'

export async function streaming({ home, cwd, flood, raw }) {
  const { http, stop } = await startDaemon(home, cwd)
  const id = await startSession(http, cwd)
  const perSecond = (flood / (await followFlood(http, id, flood))) * 1_000
  const replayed = await replaySession(http, id)
  await stop()
  return [
    row('streaming, agent → HTTP SSE client, logged', perSecond, { least: 150_000, unit: k, of: raw.perSecond }),
    row('  replay of it while the session is live', replayed, { least: 500_000, unit: k, of: raw.perSecond }),
  ]
}

async function replaySession(http, id) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const check = sequenceChecker(1)
  const began = now()
  let done
  const all = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=0`, (chunk) => {
    check.push(chunk)
    if (check.next > lastSeq) done()
  })
  await all
  stream.close()
  return (lastSeq / (now() - began)) * 1_000
}
