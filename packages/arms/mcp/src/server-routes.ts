import { type AgentNotice, type AgentprotoError, asRecord, asString, type Json } from '@agentproto/contracts'
import { flushAll, type TurnOutcome } from '@agentproto/arm-kit'
import { readElicitation } from './elicitation.js'
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
  readonly #sessions = new Map<McpSession, readonly string[]>()
  #early: AgentNotice[] = []

  constructor(profile: McpProfile, respond: (id: unknown, result: Json) => void) {
    this.#profile = profile
    this.#respond = respond
  }

  add(session: McpSession, folders: readonly string[]): void {
    this.#sessions.set(session, folders)
    for (const notice of this.#early.splice(0)) session.conversation.addNotice(notice)
    void session.conversation.flush()
  }

  remove(session: McpSession): void {
    this.#sessions.delete(session)
  }

  /** Where the sessions work. */
  folders(): readonly string[] {
    return [...new Set([...this.#sessions.values()].flat())]
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
        for (const session of this.#sessions.keys()) session.conversation.withdraw(params['requestId'])
        return
      case 'notifications/tools/list_changed':
      case 'notifications/prompts/list_changed':
      case 'notifications/resources/list_changed':
        return
      default:
        return this.addNotice(keptEvent(method, params))
    }
  }

  /** Takes a question of the server. */
  elicited(id: unknown, params: Json): void {
    const elicitation = readElicitation(params, this.#profile.data.permissions ?? [])
    const session = this.#owner(elicitation?.rule ?? {}, params)
    if (elicitation && session) return session.elicit(id, elicitation)
    this.addNotice(keptEvent('elicitation/create', params))
    this.#respond(id, { action: 'cancel' })
  }

  /** Adds a notice that belongs to no session to the busiest one. */
  addNotice(notice: AgentNotice): void {
    const session = this.#busiest()
    if (session) return session.conversation.addNotice(notice)
    if (this.#early.length < MAX_EARLY) this.#early.push(notice)
  }

  /** Emits what one read meant; the promise is the hosts' back-pressure. */
  flush(): void | Promise<void> {
    return flushAll(this.#sessions.keys())
  }

  /** There is no server any more. Returns whether a turn was running. */
  end(reason: AgentprotoError, outcome: TurnOutcome): boolean {
    return [...this.#sessions.keys()].map((session) => session.conversation.close(reason, outcome)).some(Boolean)
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
    return [...this.#sessions.keys()].find((session) => session.concerns(call, thread))
  }

  #busiest(): McpSession | undefined {
    const sessions = [...this.#sessions.keys()]
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
