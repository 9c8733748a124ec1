import type { AgentConfig, PermissionMode, Session, SessionEvent, Usage } from '@agentproto/contracts'
import { duration, spinner } from '../render/age.js'
import { columnsOf, cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { toolTitle } from '../render/request-title.js'
import { shortId } from '../render/session-text.js'
import { costText } from '../render/usage-text.js'
import type { SessionHost } from './session-host.js'

/** The facts that go where there is no room for all, in this order. What the agent does, and the hint, always stay. */
export const DROPPED_FACTS = ['adapter', 'context', 'mode', 'model', 'cost', 'name', 'host', 'permissions'] as const

/** The status row below the transcript, updated by events. */
export class StatusRow {
  readonly #session: Session
  readonly #host: SessionHost
  #status: Session['status']
  #config: AgentConfig
  #busySince: number | undefined
  #tools = new Map<string, string>()
  #context = ''
  #cost = ''
  #permissionMode: PermissionMode
  #turnCount: number

  constructor(session: Session, host: SessionHost) {
    this.#session = session
    this.#host = host
    this.#status = session.status
    this.#config = session.config ?? {}
    this.#permissionMode = session.permissionMode
    this.#turnCount = session.turnCount
    this.setUsage(session.usage)
    // The events that say so may be older than those that are shown.
    if (session.turn.state !== 'idle') this.#busySince = Date.parse(session.turn.startedAt ?? session.lastActiveAt)
  }

  /** What the session used up to its last turn. */
  setUsage(usage: Usage | undefined): void {
    if (usage?.cost !== undefined) this.#cost = costText(usage.cost)
  }

  get isBusy(): boolean {
    return this.#busySince !== undefined
  }

  /** Modes, models and slash commands of the agent. */
  get config(): AgentConfig {
    return this.#config
  }

  get permissionMode(): PermissionMode {
    return this.#permissionMode
  }

  /** Number of the last turn that has begun. */
  get turnCount(): number {
    return this.#turnCount
  }

  get hasEnded(): boolean {
    return this.#status !== 'starting' && this.#status !== 'running'
  }

  apply(event: SessionEvent): void {
    if (event.type === 'user-prompt') {
      this.#busySince = Date.parse(event.ts)
      this.#turnCount = Math.max(this.#turnCount, event.turn ?? 0)
    }
    if (event.type === 'turn-end' || event.type === 'session-stopped') this.#busySince = undefined
    if (event.type === 'status' || event.type === 'session-stopped') this.#status = event.status
    if (event.type === 'config') this.#config = { ...this.#config, ...event.config }
    if (event.type === 'config' && 'permissionMode' in event) this.#permissionMode = event.permissionMode
    if (event.type === 'usage') this.#context = contextText(event)
    this.#applyTool(event)
  }

  #applyTool(event: SessionEvent): void {
    if (event.type === 'tool-result') this.#tools.delete(event.toolCallId)
    if (event.type === 'turn-end') this.#tools.clear()
    if (event.type === 'tool-call' && (event.title !== undefined || !this.#tools.has(event.toolCallId)))
      this.#tools.set(event.toolCallId, toolTitle(event))
  }

  /** What the keys do now. @param hasLine whether something is typed */
  hint(hasLine: boolean, width: number): string {
    if (this.#host.isLost) return 'Ctrl-D detaches'
    if (this.isBusy && hasLine) return width < 70 ? 'Enter queues' : 'Enter queues, Ctrl-S sends now'
    if (this.isBusy) return 'Esc interrupts'
    if (this.hasEnded) return 'a prompt resumes it'
    return width < 60 ? '/help' : '/help · /detach exits'
  }

  row({ now, width, paint, hint }: Frame & { readonly now: number; readonly hint: string }): string {
    const room = Math.max(12, width - columnsOf(hint) - 3)
    return paint.dim(cut(`${cut(this.#facts(now, room), room)}   ${hint}`, width))
  }

  #facts(now: number, room: number): string {
    const facts = new Map<Fact, string | undefined>([
      ['name', this.#session.label ?? shortId(this.#session.id)],
      ['host', this.#host.otherName && `on ${this.#host.otherName}`],
      ['adapter', this.#session.adapterSlug],
      ['permissions', this.#permissionMode === 'ask' ? '' : this.#permissionMode],
      ['mode', this.#config.modeId],
      ['model', this.#config.modelId],
      ['context', this.#context],
      ['cost', this.#cost],
      ['activity', this.#activity(now)],
    ])
    for (const fact of DROPPED_FACTS) {
      const text = joined(facts)
      if (columnsOf(text) <= room) return text
      facts.delete(fact)
    }
    return joined(facts)
  }

  #activity(now: number): string {
    if (this.#host.isLost) return `${this.#host.name} is not heard from`
    if (this.#busySince === undefined) return this.#status === 'running' ? 'idle' : this.#status
    const tool = [...this.#tools.values()].at(-1)
    return `${spinner(now)} ${duration(Math.max(0, now - this.#busySince))}${tool === undefined ? '' : ` ${tool}`}`
  }
}

type Fact = (typeof DROPPED_FACTS)[number] | 'activity'

const joined = (facts: ReadonlyMap<Fact, string | undefined>): string =>
  oneLine([...facts.values()].filter((fact) => fact !== undefined && fact !== '').join(' · '))

const contextText = ({ used, size }: SessionEvent & { readonly type: 'usage' }): string =>
  used === undefined || size === undefined ? '' : `${Math.round((100 * used) / size)} % context`
