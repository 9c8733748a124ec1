import { type AgentNotice, type AgentprotoError, asRecord, asString, type Json } from '@agentproto/contracts'
import { flushAll, type TurnOutcome } from '@agentproto/arm-kit'
import { isNotAsked, readElicitation } from './elicitation.js'
import type { Elicitation } from './elicitation.js'
import { textAt } from './path.js'
import type { EventSource, McpProfile, PermissionRule } from './profile.js'
import type { McpSession } from './session.js'
import { keptEvent, vendorEvent } from './vendor-event.js'

/** Notices that are kept while no session is open. */
const MAX_EARLY = 256

/** Where a message names its session. */
type Address = Pick<EventSource, 'call' | 'session'> | Pick<PermissionRule, 'call' | 'session'>

/** Passes the messages of the server to the session that they belong to. */
export class ServerRoutes {
  readonly #profile: McpProfile
  readonly #respond: (id: unknown, result: Json) => void
  readonly #sessions = new Set<McpSession>()
  #early: AgentNotice[] = []

  constructor(profile: McpProfile, respond: (id: unknown, result: Json) => void) {
    this.#profile = profile
    this.#respond = respond
  }

  add(session: McpSession): void {
    this.#sessions.add(session)
    for (const notice of this.#early.splice(0)) session.conversation.addNotice(notice)
    void session.conversation.flush()
  }

  remove(session: McpSession): void {
    this.#sessions.delete(session)
  }

  /** Where the sessions work. */
  folders(): readonly string[] {
    return [...new Set([...this.#sessions].flatMap(({ folders }) => folders))]
  }

  /** Takes a notification. */
  notified(method: string, params: Json): void {
    const source = this.#profile.data.events?.find((each) => each.method === method)
    if (source) return this.#vendor(source, params)
    switch (method) {
      case 'notifications/progress':
        return this.#progress(params)
      case 'notifications/message':
        return this.#logged(params)
      case 'notifications/cancelled':
        for (const session of this.#sessions) session.conversation.withdraw(params['requestId'])
        return
      case 'notifications/tools/list_changed':
      case 'notifications/prompts/list_changed':
      case 'notifications/resources/list_changed':
        return
      default:
        return this.addNotice(keptEvent(method, params))
    }
  }

  /**
   * Takes a question of the server.
   * @param isOld an earlier host may have asked it
   */
  elicited(id: unknown, params: Json, isOld: boolean): void {
    const asked = this.#askedBy(params)
    if (asked) return asked.session.elicit(id, asked.elicitation, isOld)
    this.addNotice(keptEvent('elicitation/create', params))
    this.#respond(id, { action: 'cancel' })
  }

  /** Takes a question of the server that an earlier host has answered: it is not asked again. */
  answered(params: Json, answer: Json): void {
    const asked = this.#askedBy(params)
    if (!asked) this.addNotice(keptEvent('elicitation/create', params))
    else if (!isNotAsked(answer)) asked.session.conversation.answered(asked.elicitation.ask)
  }

  /** Adds a notice that belongs to no session to the busiest one. */
  addNotice(notice: AgentNotice): void {
    const session = this.#busiest()
    if (session) return session.conversation.addNotice(notice)
    if (this.#early.length < MAX_EARLY) this.#early.push(notice)
  }

  /** Emits what one read meant; the promise is the hosts' back-pressure. */
  flush(): void | Promise<void> {
    return flushAll(this.#sessions)
  }

  /** There is no server any more. Returns whether a turn was running. */
  end(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    return [...this.#sessions].map((session) => session.conversation.close(reason, outcome)).some(Boolean)
  }

  #askedBy(params: Json): { readonly session: McpSession; readonly elicitation: Elicitation } | undefined {
    const elicitation = readElicitation(params, this.#profile.data.permissions ?? [])
    const session = this.#owner(elicitation?.rule ?? {}, params)
    return elicitation && session && { session, elicitation }
  }

  #vendor(source: EventSource, params: Json): void {
    const event = vendorEvent(params, source)
    const session = this.#owner(source, params)
    if (event && session?.take(event)) return
    this.addNotice(keptEvent(source.method, params, source))
  }

  #progress(params: Json): void {
    // Some servers send progress without the token that they were given.
    const isAddressed = params['progressToken'] !== undefined
    const session = isAddressed ? this.#find(String(params['progressToken']), undefined) : this.#busiest()
    const message = asString(params['message'])
    if (message === undefined || message === '') return
    if (session) session.hear(message, this.#profile.data.progress ?? 'thought', 'info')
    else this.addNotice(keptEvent('notifications/progress', params))
  }

  #logged({ level, data, logger }: Json): void {
    const message = asString(data) ?? asString(asRecord(data)['message']) ?? JSON.stringify(data) ?? ''
    const from = asString(logger)
    const severity = typeof level === 'string' ? (SEVERITIES[level] ?? 'info') : 'info'
    const line = from === undefined ? message : `${from}: ${message}`
    const session = this.#busiest()
    const as = this.#profile.data.logging ?? 'notice'
    if (session) session.hear(as === 'notice' ? line : message, as, severity)
    else this.addNotice({ type: 'notice', severity, text: line })
  }

  /** The session that a message names; where it names none, the busy one. */
  #owner({ call, session }: Address, params: Json): McpSession | undefined {
    const named = call && textAt(params, call)
    const thread = session && textAt(params, session)
    if (named === undefined && thread === undefined) return this.#busiest()
    return this.#find(named, thread)
  }

  #find(call: string | undefined, thread: string | undefined): McpSession | undefined {
    return [...this.#sessions].find((session) => session.concerns(call, thread))
  }

  #busiest(): McpSession | undefined {
    const sessions = [...this.#sessions]
    return sessions.find(({ busy }) => busy) ?? sessions[0]
  }
}

const SEVERITIES: Readonly<Record<string, 'info' | 'warning' | 'error'>> = {
  warning: 'warning',
  error: 'error',
  critical: 'error',
  alert: 'error',
  emergency: 'error',
}
