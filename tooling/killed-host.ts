import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import type { AdoptedSession, AgentSignal, AgentSink, AskOptions } from '@agentproto/contracts/agent'

// Hosts that are killed and followed by another one, for the tests of arms.

/** What a host has stored: it survives the host. */
export class Log {
  readonly signals: AgentSignal[] = []
  /** Requests by their content, with the answer once there is one. */
  readonly asked = new Map<string, AgentAnswer | undefined>()
  readonly answered: AgentRequest[] = []
}

/** A host's sink. What a later host emits again is compared with what is stored after its mark. */
export class Host implements AgentSink {
  readonly emitted: AgentSignal[] = []
  readonly waiting: { readonly request: AgentRequest; readonly answer: (answer: AgentAnswer) => void }[] = []
  readonly log: Log
  readonly #from: number
  readonly #answer: AgentAnswer | undefined
  isKilled = false

  constructor(
    log: Log,
    { from = log.signals.length, answer }: { from?: number; answer?: AgentAnswer | undefined } = {},
  ) {
    this.log = log
    this.#from = from
    this.#answer = answer
  }

  emit(batch: readonly AgentSignal[]): Promise<void> {
    if (!this.isKilled) this.emitted.push(...batch)
    if (!this.isKilled && !this.isReplay) this.log.signals.push(...batch)
    return Promise.resolve()
  }

  /** Whether it emits again what is stored; its own log is put together by {@link story}. */
  isReplay = false

  ask(request: AgentRequest, _withdrawal?: AbortSignal, { onlyNew }: AskOptions = {}): Promise<AgentAnswer> {
    const key = JSON.stringify(request)
    if (onlyNew && this.log.asked.get(key)) return Promise.resolve({ outcome: 'cancelled' })
    const stored = this.log.asked.get(key) ?? this.#answer
    this.log.asked.set(key, stored)
    if (stored) return Promise.resolve(stored)
    return new Promise((answer) => this.waiting.push({ request, answer }))
  }

  answered(request: AgentRequest): void {
    this.log.answered.push(request)
  }

  mark(): number {
    return this.isReplay ? this.#from + this.emitted.length : this.log.signals.length
  }
}

/** Signals with texts joined, because pieces may be cut differently. */
export function story(signals: readonly AgentSignal[]): AgentSignal[] {
  const reported: AgentSignal[] = []
  for (const signal of signals) {
    const last = reported.at(-1)
    if (last && 'text' in last && 'text' in signal && last.type === signal.type)
      reported[reported.length - 1] = { ...last, text: last.text + signal.text } as AgentSignal
    else reported.push(signal)
  }
  return reported
}

/** All that is stored in the end: what the last host emitted replaces what is after its mark, which must be its beginning. */
export function joined(
  log: Log,
  { host, session }: { readonly host: Host; readonly session: AdoptedSession },
): AgentSignal[] {
  const [before, after] = [log.signals.slice(0, session.mark), story(log.signals.slice(session.mark))]
  const again = story(host.emitted)
  const last = after.at(-1)
  const cut = again
    .slice(0, after.length)
    .map((signal, index) => (index === after.length - 1 ? upTo(last, signal) : signal))
  expect(cut).toEqual(after)
  return [...before, ...host.emitted]
}

/** The beginning of a text that was cut by the end of a host. */
const upTo = (cut: AgentSignal | undefined, whole: AgentSignal): AgentSignal =>
  cut && 'text' in cut && 'text' in whole ? { ...whole, text: whole.text.slice(0, cut.text.length) } : whole

/** Until everything that can happen has happened. */
export async function quiet(rounds = 12): Promise<void> {
  for (let round = 0; round < rounds; round++) await turn()
}

/** Around the end of each line, inside of each character of several bytes, and a few others. */
export function places(said: Buffer): readonly number[] {
  const isPlace = (at: number): boolean => {
    const near = said.subarray(Math.max(0, at - 2), at + 1)
    return at % 61 === 0 || near.includes(10) || near.some((byte) => byte > 127)
  }
  return Array.from({ length: said.length + 1 }, (_, at) => at).filter(isPlace)
}
