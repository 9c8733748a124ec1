// The prompts of the users, and what a turn of each of them has when nothing interrupts it.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { answerRequests } from './responder.mjs'
import { logOf } from './session-check.mjs'

/** Each has a token, which says which prompt it is; `file` is what the agent writes when it is allowed to. */
export const KINDS = {
  slow: (token) => `stream 60 20; ${token}`,
  long: (token) => `stream 2000 1; think; ${token}`,
  fast: (token) => `stream 3000; ${token}`,
  ask: (token) => `stream 5 5; ask ${token}.txt ${token}; stream 20 10; ${token}`,
  askTwice: (token) => `ask ${token}.txt one; ask ${token}.txt ${token}; ${token}`,
  question: (token) => `question; stream 5 10; ${token}`,
  tools: (token) => `write ${token}.txt ${token}; read ${token}.txt; run sleep 0.3 && echo ${token}; plan; ${token}`,
  late: (token) => `late 700; ${token}`,
  garbage: (token) => `garbage ${token}; stream 10 5; ${token}`,
  loop: (token) => `loop 2; plan; ${token}`,
}
/** What an agent does with a child depends on whether the gateway is there. */
export const DELEGATION = (token) => `delegate stream 40 20 | hello; ${token}`

export const KIND_NAMES = Object.keys(KINDS)

/** Prompts whose agents write a file with the token when they are allowed to. */
export const WRITES = new Set(['ask', 'askTwice', 'tools'])

/** Tokens have the same length, so that texts are cut in the same places. */
export const TOKEN = /\bn\d{6}k[a-zA-Z]+\b/g
export const tokenOf = (number, kind) => `n${String(number).padStart(6, '0')}k${kind}`
export const kindOf = (token) => token.slice('n000000k'.length)

/** The content of one turn of each of these kinds, from a session that nothing ends. */
export async function calmTurns(daemon, root, kinds = KIND_NAMES) {
  const cwd = join(root, 'calm')
  mkdirSync(cwd)
  const responder = answerRequests(
    () => daemon,
    () => undefined,
  )
  const { id } = await daemon.call('POST', '/sessions/agent', { adapter: 'demo', cwd })
  for (const kind of kinds) {
    const token = tokenOf(0, kind)
    await daemon.call('POST', `/sessions/${id}/prompt`, { prompt: KINDS[kind](token), wait: true })
  }
  await responder.stop()
  await daemon.call('POST', `/sessions/${id}/kill`, {})
  const turns = new Map()
  let content = []
  for await (const line of logOf(daemon, id)) {
    const event = JSON.parse(line)
    if (event.type === 'user-prompt') content = new TurnContent(cwd)
    if (event.turn !== undefined) content.take(event)
    if (event.type === 'turn-end') turns.set(kindOf(content.token), content.lanes())
  }
  return turns
}

/** What a turn says, without what differs between two sessions: times, ids, folders, and where text is cut. */
export class TurnContent {
  token = ''
  all = []
  #cwd
  #text = new Map()

  constructor(cwd) {
    this.#cwd = cwd
  }

  take(event) {
    if (event.type === 'user-prompt') [this.token = ''] = event.content[0].text.match(TOKEN) ?? []
    if (OF_HOST.has(event.type)) return
    const { seq: _s, ts: _t, sessionId: _i, turn: _n, toolCallId: _c, requestId: _r, text, ...rest } = event
    if (event.type === 'user-prompt') return
    const lane = event.type === 'output' ? event.stream : 'main'
    const last = this.#text.get(lane)
    const kind = JSON.stringify(rest)
    if (typeof text === 'string' && last?.kind === kind) last.text += text
    else if (typeof text === 'string') {
      const piece = { kind, text, lane }
      this.#text.set(lane, piece)
      this.all.push(piece)
    } else {
      this.#text.delete('main')
      this.all.push({ kind: this.#plain(kind), text: '', lane })
    }
  }

  /** Of each lane by itself: their order among one another says nothing. */
  lanes() {
    return ['main', 'stderr', 'stdout'].map((lane) =>
      this.all
        .filter((each) => each.lane === lane)
        .map(({ kind, text }) => `${this.#plain(kind)} ${this.#plain(text)}`),
    )
  }

  #plain(text) {
    return text
      .replaceAll(this.#cwd, '~')
      .replaceAll(TOKEN, 'n#')
      .replaceAll(/"(requestId|toolCallId|call)":"[^"]*"/g, '')
  }
}

/** What the host logs by itself, and may log at any place. */
const OF_HOST = new Set([
  'status',
  'title',
  'config',
  'usage',
  'checkpoint',
  'checkpoint-skipped',
  'runtime-progress',
  'runtime-warning',
])
