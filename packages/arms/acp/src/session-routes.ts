import { type AgentNotice, type AgentprotoError, asString, isRecord, type Json } from '@agentproto/contracts'
import { extension } from './notice.js'
import type { PeerEvents } from './peer.js'
import type { RpcAnswer } from './rpc-answer.js'
import { cancelledAsk } from './session.js'
import type { AcpSession } from './session.js'
import type { TurnOutcome } from '@agentproto/arm-kit'

/** Updates and notices that are kept until a session is open. */
const MAX_EARLY = 1_000
/** Ids of closed sessions that are kept, because the agent may still send updates of them. */
const MAX_CLOSED = 1_000

/** Passes the messages of the agent to the session that they belong to. */
export class SessionRoutes implements PeerEvents {
  readonly #sessions = new Map<string, AcpSession>()
  readonly #respond: (id: unknown, answer: RpcAnswer) => void
  /** Sessions that are being opened: the agent may send updates before it returns their id. */
  #opening = 0
  readonly #closed = new Set<string>()
  #earlyUpdates: Json[] = []
  #earlyNotices: AgentNotice[] = []

  constructor(respond: (id: unknown, answer: RpcAnswer) => void) {
    this.#respond = respond
  }

  /** Opens a session; meanwhile, updates of unknown sessions are kept, because they may belong to it. */
  async opening<T>(open: () => Promise<T>): Promise<T> {
    this.#opening++
    try {
      return await open()
    } finally {
      if (--this.#opening === 0) this.#giveUpEarly()
    }
  }

  /** Adds an open session, and passes to it what came before. */
  add(session: AcpSession): void {
    this.#closed.delete(session.agentSessionId)
    this.#sessions.set(session.agentSessionId, session)
    for (const notice of this.#earlyNotices.splice(0)) session.conversation.addNotice(notice)
    const early = this.#earlyUpdates
    this.#earlyUpdates = []
    for (const params of early) this.update(params)
    void session.conversation.flush()
  }

  remove(sessionId: string): void {
    this.#sessions.delete(sessionId)
    if (this.#closed.size >= MAX_CLOSED) this.#closed.clear()
    this.#closed.add(sessionId)
  }

  update(params: Json): void {
    const { sessionId, update } = params
    const session = typeof sessionId === 'string' ? this.#sessions.get(sessionId) : undefined
    if (session && isRecord(update)) session.update(update)
    else if (this.#isOfClosed(params)) return
    else if (this.#opening > 0 && this.#earlyUpdates.length < MAX_EARLY) this.#earlyUpdates.push(params)
    else this.addNotice(extension('session/update', params))
  }

  request(id: unknown, method: string, params: Json): boolean {
    const question = method === 'elicitation/create'
    const session = this.#sessions.get(asString(params['sessionId']) ?? '')
    if (!question && method !== 'session/request_permission') return session?.serve({ id, method, params }) ?? false
    if (session) session.ask(id, method, params)
    else this.#respond(id, cancelledAsk(question))
    return true
  }

  notification(method: string, params: Json): void {
    if (method === '$/cancel_request') {
      for (const session of this.#sessions.values()) session.withdraw(params['requestId'])
      return
    }
    const session = this.#sessions.get(asString(params['sessionId']) ?? '')
    const notice = extension(method, params)
    if (session) session.conversation.addNotice(notice)
    else if (!this.#isOfClosed(params)) this.addNotice(notice)
  }

  unmatched(message: Json): void {
    this.addNotice(extension('unmatched-response', message))
  }

  output(line: string): void {
    this.addNotice({ type: 'output', stream: 'stdout', text: line })
  }

  /** Adds a notice that belongs to no single session to all of them. */
  addNotice(notice: AgentNotice): void {
    for (const session of this.#sessions.values()) session.conversation.addNotice(notice)
    if (this.#sessions.size === 0 && this.#earlyNotices.length < MAX_EARLY) this.#earlyNotices.push(notice)
  }

  /** Emits the signals of one read; the promise is the host's back-pressure. */
  flush(): void | Promise<void> {
    let pressure: Promise<unknown>[] | undefined
    for (const session of this.#sessions.values()) {
      const taken = session.conversation.flush()
      if (taken) (pressure ??= []).push(taken)
    }
    return pressure && Promise.all(pressure).then(() => {})
  }

  /** The connection ended. Returns whether a turn was running. */
  end(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    return sessions.map((session) => session.end(reason, outcome)).includes(true)
  }

  /** Late messages of a closed session must not reach other sessions. */
  #isOfClosed({ sessionId }: Json): boolean {
    return typeof sessionId === 'string' && this.#closed.has(sessionId)
  }

  #giveUpEarly(): void {
    for (const params of this.#earlyUpdates.splice(0)) this.update(params)
    void this.flush()
  }
}
