// One turn that streams many updates to an HTTP SSE client, which checks that none is lost.
import { sequenceChecker } from './http-client.mjs'
import { now } from './measure.mjs'

/** @returns milliseconds from the prompt to the last event */
export async function followFlood(http, id, updates) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const check = sequenceChecker(lastSeq + 1)
  let done
  const ended = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=${lastSeq}`, (chunk) => {
    check.push(chunk)
    if (check.ended) done()
  })
  const began = now()
  await http.call('POST', `/sessions/${id}/prompt`, { prompt: `flood ${updates}` })
  await ended
  const ms = now() - began
  stream.close()
  if (check.next - lastSeq - 1 < updates) throw new Error(`session ${id} lost updates`)
  return ms
}
