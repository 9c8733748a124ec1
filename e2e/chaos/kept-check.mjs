// What must be true of the log of a session whose agent outlived its gateways.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from './follower.mjs'
import { kindOf, TurnContent, WRITES } from './prompts.mjs'
import { LogCheck, logOf } from './session-check.mjs'

/** @returns how much there was */
export async function checkKeptLog(daemon, { user, follower, calm, answered }, report) {
  const { id } = user
  const fault = (what) => report(`${id}: ${what}`)
  const log = new LogCheck(fault)
  const turns = new TurnsCheck({ user, calm, fault })
  const requests = new RequestsCheck({ id, answered, fault })
  for await (const line of logOf(daemon, id)) {
    const event = log.take(JSON.parse(line))
    const seen = follower.digests.get(event.seq)
    if (seen !== undefined && seen !== digest(line)) fault(`event ${event.seq} is not what was seen`)
    turns.take(event)
    requests.take(event)
  }
  log.end()
  turns.end()
  requests.end()
  follower.stopped = true
  if (follower.last > log.last) fault(`event ${follower.last} was seen, and the log ends with ${log.last}`)
  for (const each of follower.faults) report(each)
  return { events: log.last, turns: turns.count, repairs: turns.repairs }
}

/** Each prompt is sent once, and its turn has what it has without a kill. */
class TurnsCheck {
  count = 0
  repairs = 0
  #user
  #calm
  #fault
  #tokens = new Set()
  #content

  constructor({ user, calm, fault }) {
    this.#user = user
    this.#calm = calm
    this.#fault = fault
  }

  take(event) {
    if (event.type === 'repair') {
      this.repairs += 1
      this.#fault(`event ${event.seq} is a repair: ${event.detail}`)
    }
    if (event.type === 'extension' && event.kind.startsWith('stray-'))
      this.#fault(`event ${event.seq} is ${event.kind}`)
    if (event.type === 'user-prompt') this.#content = new TurnContent(this.#user.cwd)
    if (event.turn === undefined || this.#content === undefined) return
    this.#content.take(event)
    if (event.type === 'user-prompt') this.#begin(event)
    if (event.type === 'turn-end') this.#end(event)
  }

  end() {
    for (const token of this.#user.accepted.keys())
      if (!this.#tokens.has(token)) this.#fault(`the accepted prompt ${token} is lost`)
  }

  #begin({ turn }) {
    this.count += 1
    const { token } = this.#content
    if (this.#tokens.has(token)) this.#fault(`turn ${turn} is prompt ${token} again`)
    this.#tokens.add(token)
  }

  #end({ turn, reason, error }) {
    const { token } = this.#content
    if (reason === 'cancelled' && this.#user.maybeCut.has(token)) return
    if (reason !== 'end_turn') this.#fault(`turn ${turn} (${token}) ended as ${reason}: ${error?.message}`)
    const kind = kindOf(token)
    if (!this.#calm.has(kind)) return
    const [expected, given] = [JSON.stringify(this.#calm.get(kind)), JSON.stringify(this.#content.lanes())]
    if (expected !== given) this.#fault(`turn ${turn} (${token}) is not as usual: ${firstDifference(expected, given)}`)
    if (WRITES.has(kind)) this.#checkFile(token)
  }

  #checkFile(token) {
    const file = join(this.#user.cwd, `${token}.txt`)
    if (!existsSync(file) || readFileSync(file, 'utf8').trim() !== token) this.#fault(`${token}.txt was not written`)
  }
}

/** Each request is there once and resolved once, in its turn, as it was answered. */
class RequestsCheck {
  #fault
  #id
  #answered
  #open = new Set()
  #all = new Set()
  #byPerson = new Set()

  constructor({ id, answered, fault }) {
    this.#id = id
    this.#answered = answered
    this.#fault = fault
  }

  take(event) {
    if (event.type === 'agent-prompt') {
      if (this.#all.has(event.requestId)) this.#fault(`request ${event.requestId} is there twice`)
      this.#all.add(event.requestId)
      this.#open.add(event.requestId)
    }
    if (event.type !== 'agent-prompt-resolved') return
    if (!this.#open.delete(event.requestId)) this.#fault(`request ${event.requestId} is resolved twice`)
    if (event.answer.outcome !== 'cancelled') this.#byPerson.add(event.requestId)
  }

  end() {
    for (const requestId of this.#open) this.#fault(`request ${requestId} was never resolved`)
    for (const [requestId, id] of this.#answered)
      if (id === this.#id && !this.#byPerson.has(requestId)) this.#fault(`the answer to ${requestId} is lost`)
  }
}

function firstDifference(expected = '', given = '') {
  let at = 0
  while (at < expected.length && expected[at] === given[at]) at += 1
  return `after ${expected.slice(Math.max(0, at - 60), at)} expected ${expected.slice(at, at + 100)}, given ${given.slice(at, at + 100)}`
}
