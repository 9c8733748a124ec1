// A reader of one session that lives through everything: it notes each event that it has seen, once.
import { createHash } from 'node:crypto'

/** @param current the gateway of the moment */
export function followSession(id, current) {
  const follower = { id, last: 0, faults: [], digests: new Map(), stopped: false }
  void follow(follower, current)
  return follower
}

async function follow(follower, current) {
  while (!follower.stopped) {
    try {
      await readOnce(follower, current())
    } catch {
      // The gateway is gone, or not there yet.
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

function note(follower, message) {
  const seq = Number(/^id: (\d+)$/m.exec(message)?.[1])
  const data = /^data: (.*)$/m.exec(message)?.[1]
  if (!Number.isInteger(seq) || data === undefined) return
  if (seq !== follower.last + 1) follower.faults.push(`${follower.id}: event ${seq} came after ${follower.last}`)
  follower.last = seq
  // What was seen has to be in the log to the letter; a digest of each hundredth event is enough memory.
  if (seq % 100 === 0) follower.digests.set(seq, digest(data))
}

export const digest = (text) => createHash('sha1').update(text).digest('base64')
