import type { AgentCommand, AgentConfig, Session, SessionEvent } from '@agentproto/contracts'
import { duration, spinner } from '../render/age.js'
import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { toolTitle } from '../render/request-title.js'
import { shortId } from '../render/session-text.js'

/** The status row below the transcript, updated by events. */
export class StatusRow {
  readonly #session: Session
  #status: Session['status']
  #config: AgentConfig
  #busySince: number | undefined
  #tools = new Map<string, string>()
  #usage = ''

  constructor(session: Session) {
    this.#session = session
    this.#status = session.status
    this.#config = session.config ?? {}
  }

  get isBusy(): boolean {
    return this.#busySince !== undefined
  }

  /** The slash commands of the agent. */
  get commands(): readonly AgentCommand[] {
    return this.#config.commands ?? []
  }

  get hasEnded(): boolean {
    return this.#status !== 'starting' && this.#status !== 'running'
  }

  apply(event: SessionEvent): void {
    if (event.type === 'user-prompt') this.#busySince = Date.parse(event.ts)
    if (event.type === 'turn-end' || event.type === 'session-stopped') this.#busySince = undefined
    if (event.type === 'status' || event.type === 'session-stopped') this.#status = event.status
    if (event.type === 'config') this.#config = { ...this.#config, ...event.config }
    if (event.type === 'usage') this.#usage = usageText(event)
    this.#applyTool(event)
  }

  #applyTool(event: SessionEvent): void {
    if (event.type === 'tool-result') this.#tools.delete(event.toolCallId)
    if (event.type === 'turn-end') this.#tools.clear()
    if (event.type === 'tool-call' && (event.title !== undefined || !this.#tools.has(event.toolCallId)))
      this.#tools.set(event.toolCallId, toolTitle(event))
  }

  row({ now, width, paint, hint }: Frame & { readonly now: number; readonly hint: string }): string {
    const facts = [
      this.#session.label ?? shortId(this.#session.id),
      this.#session.adapterSlug,
      this.#config.modeId,
      this.#config.modelId,
      this.#usage,
      this.#activity(now),
    ].filter((fact) => fact !== undefined && fact !== '')
    return paint.dim(cut(`${cut(oneLine(facts.join(' · ')), Math.max(20, width - hint.length - 3))}   ${hint}`, width))
  }

  #activity(now: number): string {
    if (this.#busySince === undefined) return this.#status === 'running' ? 'idle' : this.#status
    const tool = [...this.#tools.values()].at(-1)
    return `${spinner(now)} ${duration(Math.max(0, now - this.#busySince))}${tool === undefined ? '' : ` ${tool}`}`
  }
}

const usageText = ({ used, size }: SessionEvent & { readonly type: 'usage' }): string =>
  used === undefined || size === undefined ? '' : `${Math.round((100 * used) / size)} % context`
