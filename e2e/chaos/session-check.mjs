// What must be true of the log of a session after any crash.
import { digest } from './follower.mjs'

/** @returns the number of events in the log */
export async function checkSession(daemon, follower, fault) {
  const { id } = follower
  const log = new LogCheck((what) => fault(`${id}: ${what}`))
  for await (const line of logOf(daemon, id)) {
    const { seq } = log.take(JSON.parse(line))
    const seen = follower.digests.get(seq)
    if (seen !== undefined && seen !== digest(line)) fault(`${id}: event ${seq} is not what was seen`)
  }
  log.end()
  follower.stopped = true
  if (follower.last > log.last) fault(`${id}: event ${follower.last} was seen, and the log ends with ${log.last}`)
  for (const each of follower.faults) fault(each)
  return log.last
}

/** Sequence numbers without gaps, one end per turn, and one per run of the agent. */
export class LogCheck {
  last = 0
  #fault
  #turn
  #runs = 0
  #afterLost

  /** @param options `lost`, the only gaps that may be there: each with its `first` and `last` number */
  constructor(fault, { lost = [] } = {}) {
    this.#fault = fault
    this.#afterLost = new Map(lost.map(({ first, last }) => [first, last + 1]))
  }

  take(event) {
    const next = this.last + 1
    if (event.seq !== (this.#afterLost.get(next) ?? next)) this.#fault(`the log has ${event.seq} after ${this.last}`)
    this.last = event.seq
    if (event.type === 'user-prompt') this.#begin(event.turn)
    if (event.type === 'turn-end') this.#end(event.turn)
    if (event.type === 'status' && event.status === 'starting') this.#runs += 1
    if (event.type === 'session-stopped') this.#runs -= 1
    return event
  }

  end() {
    if (this.#turn !== undefined) this.#fault(`turn ${this.#turn} has no end`)
    if (this.#runs !== 0) this.#fault('a run of the agent has no end')
  }

  #begin(turn) {
    if (this.#turn !== undefined) this.#fault(`turn ${turn} began in turn ${this.#turn}`)
    this.#turn = turn
  }

  #end(turn) {
    if (turn !== this.#turn) this.#fault(`turn ${turn} ended where ${this.#turn} was open`)
    this.#turn = undefined
  }
}

/** The events of a session as stored. */
export async function* logOf(daemon, id) {
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
