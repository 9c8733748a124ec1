import { asNumber, asRecord, type Clock, parseJson } from '@agentproto/contracts'
import type { ArmLimits, KeptAgent, KeptStream } from '@agentproto/contracts/agent'
import { keptProcess } from '@agentproto/subprocess'

/** How often room is made for a process that wrote more than is kept, in milliseconds. */
const ROOM_MS = 1_000

/** What is stored with the process of a turn. */
export interface RunFacts {
  /** Its number in the session. */
  readonly run: number
  /** How long its input is, in bytes. */
  readonly input: number
}

export const runFactsText = (facts: RunFacts): string => JSON.stringify(facts)

/** The whole input of a process if it is that run; undefined for another run, or if its input was cut short. */
export async function inputOf(agent: KeptAgent, run: number): Promise<string | undefined> {
  const facts = asRecord(parseJson(agent.facts))
  const length = asNumber(facts['input'])
  const { first, next } = agent.kept.stdin
  if (facts['run'] !== run || length === undefined || first > 0 || next < length) return undefined
  const chunks: Buffer[] = []
  let size = 0
  if (length > 0) {
    for await (const chunk of agent.read('stdin', 0)) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= length) break
    }
  }
  return size < length ? undefined : Buffer.concat(chunks).subarray(0, length).toString('utf8')
}

export interface Ending {
  readonly marker: string
  readonly limits: ArmLimits
  readonly clock: Clock
}

/** Ends the process of a turn with all that it started, and lets the keeper forget it. */
export async function endTurnProcess(agent: KeptAgent, { marker, limits, clock }: Ending): Promise<void> {
  const kept = keptProcess(agent, marker, { graces: { ...limits, stdinGraceMs: 0 }, clock, onLines: () => {} })
  await kept.terminate()
  await kept.release()
}

export interface TurnProcessOptions {
  readonly clock: Clock
  /** Nothing of it is read before. */
  readonly begun: Promise<void>
  /** Called once, when the process wrote more than is kept. */
  readonly onFull: () => void
}

/** The process of a turn as the adapter sees it. */
export class TurnProcess implements KeptAgent {
  readonly process: KeptAgent['process']
  readonly facts: string
  readonly kept: KeptAgent['kept']
  readonly exit: KeptAgent['exit']
  readonly lost: KeptAgent['lost']
  readonly #agent: KeptAgent
  readonly #options: TurnProcessOptions
  readonly #read: Record<KeptStream, number>
  #isOver = false

  constructor(agent: KeptAgent, options: TurnProcessOptions) {
    const { stdin, stdout, stderr } = agent.kept
    this.#agent = agent
    this.#options = options
    this.#read = { stdin: stdin.first, stdout: stdout.first, stderr: stderr.first }
    this.process = agent.process
    this.facts = agent.facts
    this.kept = agent.kept
    this.lost = agent.lost
    this.exit = options.begun.then(() => agent.exit)
    void Promise.race([agent.exit, agent.lost]).then(() => (this.#isOver = true))
    let isFull = false
    agent.onFull(() => {
      if (isFull) return
      isFull = true
      options.onFull()
      void options.begun.then(() => this.#makeRoom())
    })
  }

  async *read(stream: KeptStream, from: number): AsyncGenerator<Buffer> {
    await this.#options.begun
    let at = from
    for await (const chunk of this.#agent.read(stream, from)) {
      at += chunk.length
      this.#read[stream] = Math.max(this.#read[stream], at)
      yield chunk
    }
  }

  write(bytes: string): void | Promise<void> {
    return this.#agent.write(bytes)
  }

  endInput(): void {
    this.#agent.endInput()
  }

  /** The host does that. */
  async acknowledge(): Promise<void> {}

  onFull(): void {}

  /** The host does that. */
  async release(): Promise<void> {}

  /** Forgets what was read, again and again: without room the process would stop. */
  #makeRoom(): void {
    if (this.#isOver) return
    void this.#agent.acknowledge({ ...this.#read }, '', true).catch(() => {})
    this.#options.clock.after(ROOM_MS, () => this.#makeRoom())
  }
}
