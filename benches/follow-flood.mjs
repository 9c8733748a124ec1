// One turn that streams many updates to an HTTP SSE client, which checks that none is lost.
import { sequenceChecker } from './http-client.mjs'
import { now } from './measure.mjs'

/** @returns milliseconds from the prompt to the last event */
export async function followFlood(http, id, updates) {
  const { lastSeq } = await http.call('GET', `/sessions/${id}`)
  const check = sequenceChecker(lastSeq + 1)
  const count = lineCounter()
  let done
  const ended = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=${lastSeq}`, (chunk) => {
    check.push(chunk)
    count.push(chunk)
    if (check.ended) done()
  })
  const began = now()
  await http.call('POST', `/sessions/${id}/prompt`, { prompt: `flood ${updates}` })
  await ended
  const ms = now() - began
  stream.close()
  if (count.lines < updates) throw new Error(`session ${id} lost ${updates - count.lines} updates`)
  return ms
}

/** Each update is one line. Text that may be the start of a secret is emitted with the update after it: an event may have two. */
export function lineCounter() {
  let isEscape = false
  return {
    lines: 0,
    push(chunk) {
      if (isEscape && chunk[0] === LETTER_N) this.lines += 1
      for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 2)) this.lines += 1
      isEscape = chunk.at(-1) === BACKSLASH
    },
  }
}

/** As JSON writes it. */
const LINE_END = Buffer.from(String.raw`\n`)
const [BACKSLASH, LETTER_N] = LINE_END
