import { print, type Io } from '../io.js'
import { requestTitle } from '../render/request-title.js'
import { denying } from '../requests/verdict.js'
import type { Answerer } from './follow-turn.js'

/** Who answers in a run: the gateway's own policy for permissions, and a person, where there is one, for the rest. */
export function answererFor(io: Io): Answerer {
  return io.stdin.isTTY === true && io.stderr.isTTY === true ? terminalAnswerer(io) : denyingAnswerer(io)
}

/** Who answers where a turn is only watched: a person, where there is one, else whoever else may. */
export function watchingAnswerer(io: Io, seeMore: string): Answerer {
  if (io.stdin.isTTY === true && io.stderr.isTTY === true) return terminalAnswerer(io)
  return ({ request }) => {
    print(io.stderr, `agentproto: it waits for an answer: ${requestTitle(request)}. See: ${seeMore}`)
    return Promise.resolve(undefined)
  }
}

/** Asks the person at the terminal by key, on stderr, so that stdout stays the answer. */
const terminalAnswerer =
  (io: Io): Answerer =>
  async (asked, signal) => {
    const answer = await (await import('../attach/ask-by-key.js')).askByKey(io, asked.request, signal)
    return answer && { answer }
  }

/** Denies what nobody can be asked (F79): a run without a terminal never waits for a person. */
const denyingAnswerer =
  (io: Io): Answerer =>
  ({ request }) => {
    const told = `agentproto: denied, because there is no terminal to ask: ${requestTitle(request)}`
    return Promise.resolve({ answer: denying(request), onTaken: () => print(io.stderr, told) })
  }
