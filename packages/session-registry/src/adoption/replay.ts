import type { AgentSignal } from '@agentproto/contracts/agent'
import { LoggedLane, type Recognised } from './logged-lane.js'
import { type Lane, LANES, laneOf, loggedForm, type LoggedSignal } from './logged-signal.js'

/** Recognises what the log already has of what an adopted agent emits again. */
export class Replay {
  readonly #lanes: Readonly<Record<Lane, LoggedLane>>
  readonly #redact: ((text: string) => string) | undefined

  /** @param logged what the agent had emitted since the mark, as the log has it */
  constructor(logged: (lane: Lane) => AsyncIterable<LoggedSignal>, redact?: (text: string) => string) {
    this.#lanes = { main: new LoggedLane(logged('main')), stderr: new LoggedLane(logged('stderr')) }
    this.#redact = redact
  }

  /** Nothing that comes is in the log. */
  get isOver(): boolean {
    return LANES.every((lane) => this.#lanes[lane].isOver)
  }

  /** @returns what of a batch is new, in order. @throws {@link Difference} */
  async take(batch: readonly AgentSignal[]): Promise<readonly AgentSignal[]> {
    const fresh: AgentSignal[] = []
    for (const signal of batch) {
      if (this.isOver) fresh.push(signal)
      else fresh.push(...(await this.#take(signal)))
    }
    return fresh
  }

  /** All that was kept was emitted again. @throws {@link Difference} when the log has more */
  async finish(): Promise<void> {
    const missing = await this.#lanes.main.missing()
    // The last line of stderr may come later: without its end it is logged after a while. Else all that comes is new.
    await this.#lanes.stderr.lookAhead()
    if (missing !== undefined) throw new Difference(`the log has ${nameOf(missing)} that the agent did not send`)
  }

  async #take(signal: AgentSignal): Promise<readonly AgentSignal[]> {
    const lane = this.#lanes[laneOf(signal)]
    if (lane.isOver) return [signal]
    const form = loggedForm(signal, this.#redact)
    return freshPart(signal, form, await lane.take(form))
  }
}

/** The log and what was kept of the agent do not agree. */
export class Difference extends Error {}

function freshPart(signal: AgentSignal, form: LoggedSignal, known: Recognised): readonly AgentSignal[] {
  switch (known.is) {
    case 'logged':
      return []
    case 'new':
      return [signal]
    case 'longer':
      return 'text' in signal ? [{ ...signal, text: known.rest }] : []
    case 'other':
      throw new Difference(`the agent sent ${nameOf(form)} where the log has ${nameOf(known.logged)}`)
  }
}

/** For people. */
const nameOf = ({ type, toolCallId }: LoggedSignal): string =>
  typeof toolCallId === 'string' ? `a ${type} of ${toolCallId.slice(0, 100)}` : `a ${type}`
