import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'
import type { Redactor } from '@agentproto/secrets'

type Prose = Extract<AgentSignal, { type: 'text-delta' | 'thought' }>

/** Signals that may come between two pieces of one text. */
const ASIDE: ReadonlySet<AgentSignal['type']> = new Set(['usage', 'config', 'title', 'plan', 'output', 'extension'])

/**
 * Redacts known secrets in everything that an agent says, before it is emitted. Agents send their text in pieces, so
 * that the end of a piece which may be the beginning of a secret is held back until the next piece.
 */
export class RedactingSink implements AgentSink {
  readonly #inner: AgentSink
  readonly #redactor: Redactor
  #held: Prose | undefined

  constructor(inner: AgentSink, redactor: Redactor) {
    this.#inner = inner
    this.#redactor = redactor
  }

  emit(batch: readonly AgentSignal[]): void | Promise<void> {
    if (this.#redactor.empty) return this.#inner.emit(batch)
    const clean = batch.flatMap((signal) => this.#clean(signal))
    return clean.length === 0 ? undefined : this.#inner.emit(clean)
  }

  async ask(request: AgentRequest, signal: AbortSignal): Promise<AgentAnswer> {
    const held = this.#release()
    if (held.length > 0) await this.#inner.emit(held)
    return this.#inner.ask(this.#redactor.redactData(request), signal)
  }

  #clean(signal: AgentSignal): readonly AgentSignal[] {
    if (signal.type === 'text-delta' || signal.type === 'thought') return this.#prose(signal)
    const before = ASIDE.has(signal.type) ? [] : this.#release()
    return [...before, this.#redactor.redactData(signal)]
  }

  #prose(piece: Prose): readonly AgentSignal[] {
    const held = this.#held
    const goesOn = held !== undefined && held.type === piece.type && held.messageId === piece.messageId
    const before = goesOn ? [] : this.#release()
    const text = this.#redactor.redact(goesOn ? held.text + piece.text : piece.text)
    const open = this.#redactor.openEnd(text)
    const complete = text.slice(0, text.length - open)
    this.#held = open === 0 ? undefined : { ...piece, text: text.slice(text.length - open) }
    return complete === '' ? before : [...before, { ...piece, text: complete }]
  }

  #release(): readonly AgentSignal[] {
    const held = this.#held
    this.#held = undefined
    return held === undefined ? [] : [held]
  }
}
