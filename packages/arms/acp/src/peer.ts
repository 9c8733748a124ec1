import { flushAll, isRequestId, takeOrDrop } from '@agentproto/arm-kit'
import type { EarlierHost, TurnOutcome } from '@agentproto/arm-kit'
import { asRecord, asString, isRecord } from '@agentproto/contracts'
import type { AgentNotice, AgentprotoError, Clock, Json } from '@agentproto/contracts'
import type { StreamLines } from '@agentproto/contracts/agent'
import { cancelledAsk, isAsk } from './agent-request.js'
import { Calls, FIRST_ID } from './calls.js'
import { ClosedSessions } from './closed-sessions.js'
import { EarlierConnection } from './earlier-connection.js'
import { EarlyMessages } from './early-messages.js'
import { MessageLines } from './message-lines.js'
import { extension } from './notice.js'
import { type RpcAnswer, UNREADABLE } from './rpc-answer.js'
import { type NextIds, SdkLink, type SendMessage } from './sdk-link.js'
import type { AcpSession } from './session.js'

/**
 * JSON-RPC with the agent, whose messages go to the session that they belong to. Lines are parsed here. Updates and the
 * answers of prompts are passed on directly, in order; the SDK gets the rest as objects. (The SDK drops updates that its
 * schema does not know, parses each twice, and can settle a prompt before the updates that precede its answer.)
 */
export class Peer {
  /** The official SDK's client, for control requests. */
  readonly sdk: SdkLink
  #write: SendMessage
  readonly #messages = new MessageLines()
  readonly #calls = new Calls((message) => this.#write(message))
  #earlier: EarlierConnection | undefined
  /** Lines since the start of the process: those that were written, and those that are handled. */
  #lines = { stdin: 0, stdout: 0, stderr: 0 }
  /** Called with a session of the agent that an earlier host was opening. */
  onUnclaimed: (sessionId: string) => void = () => {}
  /** Whether requests of the agent may be those that an earlier host was working on. */
  isReplaying = false
  readonly #sessions = new Map<string, AcpSession>()
  readonly #closed = new ClosedSessions()
  readonly #early = new EarlyMessages((params) => this.#update(params))

  constructor(name: string, write: SendMessage, clock: Clock) {
    this.#write = (message) => {
      this.#lines.stdin++
      return write(message)
    }
    this.sdk = new SdkLink(name, (message) => this.#write(message), clock)
  }

  /** The id of the next request of ours. */
  get nextId(): number {
    return this.#calls.nextId
  }

  /** As {@link Calls.send}. */
  send(method: string, params: object, answered?: (response: Json) => void): void {
    this.#calls.send(method, params, answered)
  }

  /** As {@link Calls.request}. */
  request(...call: Parameters<Calls['request']>): Promise<void> {
    return this.#calls.request(...call)
  }

  /** Where the connection is, in lines since the start of the process. */
  get lines(): StreamLines {
    return { ...this.#lines }
  }

  /** The agent's ids of the sessions that are open, and of the last ones that were closed. */
  get sessionIds(): { readonly open: readonly string[]; readonly closed: readonly string[] } {
    return { open: [...this.#sessions.keys()], closed: this.#closed.last }
  }

  /**
   * Goes on after an earlier host, with ids that it has not used.
   * @param lines up to which nothing is read again
   */
  resume(earlier: EarlierHost, next: NextIds, lines: StreamLines = this.#lines): void {
    const ids = earlier.requests.map(({ id }) => id)
    const own = ids.filter((id) => id >= FIRST_ID)
    const sdk = ids.filter((id) => id < FIRST_ID)
    this.#calls.nextId = Math.max(next.own, ...own.map((id) => id + 1))
    this.sdk.startAt(Math.max(next.sdk, ...sdk.map((id) => id + 1)))
    const [firstOwn, firstSdk] = [this.nextId, this.sdk.firstId]
    this.#earlier = new EarlierConnection(earlier, (id) => id < (id < FIRST_ID ? firstSdk : firstOwn))
    this.#early.opening(this.#earlier.openings)
    this.#lines = { ...lines }
    this.isReplaying = true
  }

  /** Adds a session that an earlier host left. @param lines up to which it has handled everything */
  goOn(session: AcpSession, lines?: StreamLines): void {
    if (lines) this.#earlier?.begin(session.agentSessionId, lines)
    this.add(session)
  }

  /** Everything was read again: what comes is new to all sessions. */
  caughtUp(): void {
    this.isReplaying = false
    this.#earlier?.caughtUp()
  }

  /** Handles the answer to a request that an earlier host sent. */
  expect(id: number, answered: (response: Json) => void): void {
    this.#calls.expect(id, answered)
  }

  respond(id: unknown, answer: RpcAnswer): void {
    void this.#write({ jsonrpc: '2.0', id, ...answer })
  }

  handleLine(line: string): void {
    this.#lines.stdout++
    const message = this.#messages.parse(line)
    if (isRecord(message)) return this.handleMessage(message)
    if (line.trim() !== '') this.addNotice({ type: 'output', stream: 'stdout', text: line })
  }

  handleMessage(message: Json): void {
    const drop = takeOrDrop(() => this.#handle(message))
    if (!drop) return
    if ('method' in message && isRequestId(message['id'])) this.respond(message['id'], UNREADABLE)
    this.addNotice(drop)
  }

  #handle(message: Json): void {
    const { id, method } = message
    if (typeof method !== 'string') return this.#responded(message)
    const params = asRecord(message['params'])
    if (id !== undefined) return this.#requested(message, method, params)
    if (method === 'session/update') this.#update(params)
    else this.#notified(method, params)
  }

  /** Opens a session; meanwhile, updates of unknown sessions are kept, because they may belong to it. */
  async opening<T>(open: () => Promise<T>): Promise<T> {
    this.#early.opening(1)
    try {
      return await open()
    } finally {
      if (this.#early.opened()) void this.flush()
    }
  }

  /** Adds an open session, and passes to it what came before. */
  add(session: AcpSession): void {
    this.#closed.delete(session.agentSessionId)
    this.#sessions.set(session.agentSessionId, session)
    for (const notice of this.#early.takeNotices()) session.conversation.addNotice(notice)
    this.#early.deliver()
    void session.conversation.flush()
  }

  remove(sessionId: string): void {
    this.#sessions.delete(sessionId)
    this.#closed.add(sessionId)
  }

  /** Adds a notice that belongs to no single session to all of them. */
  addNotice(notice: AgentNotice): void {
    for (const each of this.#sessions.values()) if (!this.#hasHandled(each)) each.conversation.addNotice(notice)
    if (this.#sessions.size === 0) this.#early.keepNotice(notice)
  }

  /** Adds lines of stderr to all sessions that have not handled them. */
  addErrorOutput(text: string): void {
    const before = this.#lines.stderr
    const lines = text.split('\n')
    this.#lines.stderr += lines.length
    if (this.#sessions.size === 0) this.addNotice({ type: 'output', stream: 'stderr', text })
    for (const { agentSessionId, conversation } of this.#sessions.values()) {
      const fresh = lines.slice(Math.max(0, (this.#earlier?.handled(agentSessionId, 'stderr') ?? 0) - before))
      if (fresh.length > 0) conversation.addNotice({ type: 'output', stream: 'stderr', text: fresh.join('\n') })
    }
  }

  /** Emits the signals of one read; the promise is the host's back-pressure. */
  flush(): void | Promise<void> {
    return flushAll(this.#sessions.values())
  }

  /** Closes the connection: pending requests reject, and calls are dropped. Returns whether a turn was running. */
  close(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    return this.#drop(reason)
      .map((session) => session.end(reason, outcome))
      .includes(true)
  }

  /** The connection was lost, and its sessions go on with another one: nothing is sent any more, pending requests reject. */
  abandon(reason: AgentprotoError): void {
    this.#write = () => {}
    this.#drop(reason)
  }

  #drop(reason: AgentprotoError): readonly AcpSession[] {
    this.#calls.drop(reason)
    this.sdk.close(reason)
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    return sessions
  }

  #responded(message: Json): void {
    const { id } = message
    const answered = this.#calls.take(id)
    const isOfEarlier = this.#earlier?.isAnswered(id) === true
    if (isOfEarlier) this.#openedEarlier(message)
    if (answered) {
      answered(message)
    } else if (this.sdk.expects(id)) {
      this.sdk.take(message)
    } else if (!isOfEarlier) {
      this.addNotice(extension('unmatched-response', message))
    }
  }

  #requested(message: Json, method: string, params: Json): void {
    const { id } = message
    // It is written into the answer, perhaps much later.
    if (id !== null && !isRequestId(id)) throw new Error('its id is neither a text nor a number')
    const session = this.#sessionOf(params)
    const answer = this.#earlier?.takeAnswer(id)
    if (session && this.#hasHandled(session)) return
    if (answer) return session?.answered({ id, method, params }, answer)
    if (!isAsk(method)) {
      // The SDK refuses unknown methods.
      if (!session?.serve({ id, method, params }, this.isReplaying)) this.sdk.take(message)
    } else if (session) session.ask({ id, method, params }, this.isReplaying)
    else this.respond(id, cancelledAsk(method))
  }

  /** While a process is read again that several sessions share, each of them begins at a place of its own. */
  #hasHandled({ agentSessionId }: AcpSession): boolean {
    const handled = this.#earlier?.handled(agentSessionId, 'stdout') ?? 0
    return handled > 0 && this.#lines.stdout <= handled
  }

  /** A session that an earlier host was opening: nothing of it reaches the others. */
  #openedEarlier(message: Json): void {
    const opened = this.#earlier?.opened(message)
    if (!opened) return
    const { sessionId } = opened
    if (sessionId !== undefined && !this.#sessions.has(sessionId) && !this.#closed.has(sessionId)) {
      this.remove(sessionId)
      this.onUnclaimed(sessionId)
    }
    this.#early.opened()
  }

  #notified(method: string, params: Json): void {
    if (method === '$/cancel_request') {
      for (const session of this.#sessions.values()) session.withdraw(params['requestId'])
      return
    }
    const session = this.#sessionOf(params)
    const notice = extension(method, params)
    if (session && (this.#hasHandled(session) || session.notified(method, params))) return
    if (session) session.conversation.addNotice(notice)
    else if (!this.#isOfClosed(params)) this.addNotice(notice)
  }

  #update(params: Json): void {
    const { sessionId, update } = params
    const session = typeof sessionId === 'string' ? this.#sessions.get(sessionId) : undefined
    if (session && this.#hasHandled(session)) return
    if (session && isRecord(update)) session.update(params)
    else if (this.#isOfClosed(params)) return
    else if (!this.#early.keepUpdate(params)) this.addNotice(extension('session/update', params))
  }

  #sessionOf({ sessionId }: Json): AcpSession | undefined {
    return this.#sessions.get(asString(sessionId) ?? '')
  }

  /** Late messages of a closed session must not reach other sessions. */
  #isOfClosed({ sessionId }: Json): boolean {
    return typeof sessionId === 'string' && this.#closed.has(sessionId)
  }
}
