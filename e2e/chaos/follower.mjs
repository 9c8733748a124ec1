// A reader of one session that survives every restart and records each event once.
import { createHash } from 'node:crypto'

/** @param current returns the current gateway */
export function followSession(id, current) {
  const follower = { id, last: 0, chain: '', faults: [], digests: new Map(), stopped: false }
  void follow(follower, current)
  return follower
}

async function follow(follower, current) {
  while (!follower.stopped) {
    try {
      await readOnce(follower, current())
    } catch {
      // The gateway has ended, or has not started yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function readOnce(follower, { url, headers }) {
  const response = await fetch(`${url}/sessions/${follower.id}/events`, {
    headers: { ...headers, accept: 'text/event-stream', 'last-event-id': String(follower.last) },
  })
  if (response.status !== 200) return
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body) {
    const messages = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) note(follower, message)
  }
}

/** Adds one SSE message. */
export function note(follower, message) {
  const seq = Number(/^id: (\d+)$/m.exec(message)?.[1])
  const data = /^data: (.*)$/m.exec(message)?.[1]
  if (!Number.isInteger(seq) || data === undefined) return
  if (seq !== follower.last + 1) follower.faults.push(`${follower.id}: event ${seq} came after ${follower.last}`)
  follower.last = seq
  follower.chain = chained(follower.chain, data)
  // The log must have exactly what was seen. A digest of each hundredth event limits the memory.
  if (seq % 100 === 0) follower.digests.set(seq, digest(data))
}

/** A digest of all lines so far: two readers that have the same have read the same. */
export const chained = (chain, line) => digest(chain + line)

export const digest = (text) => createHash('sha1').update(text).digest('base64')
