// What the log of a session has to be, whatever happened to its gateway.
import { digest } from './follower.mjs'

/** @returns how many events the log has */
export async function checkSession(daemon, follower, fault) {
  const { id } = follower
  let last = 0
  let openTurn
  let runs = 0
  for await (const line of logOf(daemon, id)) {
    const event = JSON.parse(line)
    if (event.seq !== last + 1) fault(`${id}: the log has ${event.seq} after ${last}`)
    last = event.seq
    if (follower.digests.has(event.seq) && follower.digests.get(event.seq) !== digest(line)) {
      fault(`${id}: event ${event.seq} is not what was seen`)
    }
    if (event.type === 'user-prompt') {
      if (openTurn !== undefined) fault(`${id}: turn ${event.turn} began in turn ${openTurn}`)
      openTurn = event.turn
    }
    if (event.type === 'turn-end') {
      if (event.turn !== openTurn) fault(`${id}: turn ${event.turn} ended where ${openTurn} was open`)
      openTurn = undefined
    }
    if (event.type === 'status' && event.status === 'starting') runs += 1
    if (event.type === 'session-stopped') runs -= 1
  }
  if (openTurn !== undefined) fault(`${id}: turn ${openTurn} has no end`)
  if (runs !== 0) fault(`${id}: a run has no end`)
  follower.stopped = true
  if (follower.last > last) fault(`${id}: event ${follower.last} was seen, and the log ends with ${last}`)
  for (const each of follower.faults) fault(each)
  return last
}

/** Each event of a session as it is stored. */
async function* logOf(daemon, id) {
  const { url, headers } = daemon
  const response = await fetch(`${url}/sessions/${id}/events?after=0`, {
    headers: { ...headers, accept: 'text/event-stream' },
  })
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body) {
    const messages = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      const data = /^data: (\{"seq":.*)$/m.exec(message)?.[1]
      if (data !== undefined) yield data
    }
  }
}
