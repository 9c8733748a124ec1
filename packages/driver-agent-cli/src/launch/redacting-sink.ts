import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import type { AgentSignal, AgentSink, AskOptions } from '@agentproto/contracts/agent'
import type { Redactor } from '@agentproto/secrets'

type Prose = Extract<AgentSignal, { readonly text: string }>

/**
 * Redacts tokens and known secrets in everything that an agent says. It says them in pieces: the end of a piece that may be
 * the beginning of a secret is held back until the next piece of that kind of text, whatever comes between, or the turn's end.
 */
export class RedactingSink implements AgentSink {
  readonly #inner: AgentSink
  readonly #redactor: Redactor
  /** The end of each kind of text, from where it may be a secret, and how much of that was emitted. */
  readonly #open = new Map<Prose['type'], { piece: Prose; open: string; sent: number }>()

  constructor(inner: AgentSink, redactor: Redactor) {
    this.#inner = inner
    this.#redactor = redactor
  }

  emit(batch: readonly AgentSignal[]): void | Promise<void> {
    const clean: AgentSignal[] = []
    for (const signal of batch) this.#clean(signal, clean)
    return clean.length === 0 ? undefined : this.#inner.emit(clean)
  }

  /** What is held back is given up: it would be lost with this host, and is no longer a part of what comes next. */
  mark(): number | Promise<void> {
    const held: AgentSignal[] = []
    this.#end(held)
    const stored = held.length > 0 ? this.#inner.emit(held) : undefined
    return stored ?? this.#inner.mark?.() ?? 0
  }

  answered(request: AgentRequest): void {
    this.#inner.answered?.(this.#redactor.redactData(request))
  }

  ask(request: AgentRequest, signal: AbortSignal, options?: AskOptions): Promise<AgentAnswer> {
    return this.#inner.ask(this.#redactor.redactData(request), signal, options)
  }

  #clean(signal: AgentSignal, out: AgentSignal[]): void {
    if ('text' in signal) return this.#extend(signal, out)
    if (signal.type === 'turn-end' && this.#open.size > 0) this.#end(out)
    out.push(this.#redactor.redactData(signal))
  }

  #extend(piece: Prose, out: AgentSignal[]): void {
    const { open: before, sent } = this.#open.get(piece.type) ?? { open: '', sent: 0 }
    const lineBreak = before !== '' && piece.type === 'output' ? '\n' : ''
    const [clean, open] = this.#redactor.redactPart(before + lineBreak + piece.text)
    const text = clean + open
    const shown = before.slice(0, sent) + (sent === before.length ? lineBreak : '')
    const start = text.startsWith(shown) ? shown.length : 0
    const held = open !== '' && isHeld(open) ? Math.min(open.length, text.length - start) : 0
    emit(piece, text.slice(start, text.length - held), out)
    if (open !== '') this.#open.set(piece.type, { piece, open, sent: open.length - held })
    else if (before !== '') this.#open.delete(piece.type)
  }

  #end(out: AgentSignal[]): void {
    for (const { piece, open, sent } of this.#open.values()) {
      const clean = this.#redactor.redact(open)
      if (sent < open.length) emit(piece, clean.startsWith(open.slice(0, sent)) ? clean.slice(sent) : clean, out)
    }
    this.#open.clear()
  }
}

/** Fewer than three letters of a secret are not held back, so that nearly all text is emitted as it comes. */
const isHeld = (text: string): boolean => /\S\s*\S\s*\S/.test(text)

function emit(piece: Prose, text: string, out: AgentSignal[]): void {
  if (text === piece.text) out.push(piece)
  else if (text !== '') out.push({ ...piece, text })
}
