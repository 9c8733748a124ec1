import { type Clock, settlesWithin, systemClock } from '@agentproto/contracts'
import type { KeptAgent, StreamOffsets } from '@agentproto/contracts/agent'
import { type AgentProcess, PipedAgent, type SpawnOptions } from './agent-process.js'
import { KeptPipes } from './kept-pipes.js'

/** How long is waited for the keeper to forget an agent, in milliseconds. */
const RELEASE_MS = 2_000

/** An agent whose pipes a keeper holds: it outlives this host. */
export interface KeptProcess extends AgentProcess {
  /** Begins to read its output. */
  begin(): void
  /**
   * Bytes since its start: whole lines of its output that were passed on (the last of them may still be being handled), and
   * what was written to its stdin.
   */
  readonly offsets: StreamOffsets
  /** Settles when all output was passed on that was kept when this host began; never rejects. */
  readonly caughtUp: Promise<void>
  /** What was kept from when this host began. */
  readonly first: StreamOffsets
  /** See {@link KeptAgent.onFull}. */
  onFull(listener: () => void): void
  /** Settles when this host can no longer reach the agent, or another has taken it over; never rejects. */
  readonly lost: KeptAgent['lost']
  /** See {@link KeptAgent.acknowledge}; never rejects: an agent that is lost is reported by {@link lost}. */
  acknowledge(upTo: StreamOffsets, facts: string, isBusy: boolean): Promise<void>
  /** Lets the keeper forget an agent that has ended; never rejects. */
  release(): Promise<void>
}

/**
 * A process that a keeper holds, with the same lines and the same verified end as one of this host.
 * @param marker value of the session marker in the environment of its descendants
 */
export function keptProcess(agent: KeptAgent, marker: string, options: SpawnOptions): KeptProcess {
  const kept = new KeptAgentProcess(agent, marker, options)
  void kept.exit.then(() => kept.terminate().catch(() => {}))
  return kept
}

class KeptAgentProcess extends PipedAgent implements KeptProcess {
  readonly caughtUp: Promise<void>
  readonly lost: KeptAgent['lost']
  readonly #agent: KeptAgent
  readonly #kept: KeptPipes
  readonly #time: Clock

  constructor(agent: KeptAgent, marker: string, options: SpawnOptions) {
    const { clock = systemClock } = options
    const pipes = new KeptPipes(agent, clock)
    super(pipes, marker, options)
    this.#time = clock
    this.#agent = agent
    this.#kept = pipes
    this.lost = agent.lost
    const { stdout, stderr } = agent.kept
    const reached = [this.stdout.reached(stdout.next - stdout.first), this.stderr.reached(stderr.next - stderr.first)]
    this.caughtUp = Promise.all([pipes.begun, ...reached]).then(() => {})
  }

  get offsets(): StreamOffsets {
    const { stdout, stderr } = this.#agent.kept
    return {
      stdin: this.#kept.written,
      stdout: stdout.first + this.stdout.passed,
      stderr: stderr.first + this.stderr.passed,
    }
  }

  get first(): StreamOffsets {
    const { stdin, stdout, stderr } = this.#agent.kept
    return { stdin: stdin.first, stdout: stdout.first, stderr: stderr.first }
  }

  begin(): void {
    this.#kept.begin()
  }

  onFull(listener: () => void): void {
    this.#agent.onFull(listener)
  }

  async acknowledge(upTo: StreamOffsets, facts: string, isBusy: boolean): Promise<void> {
    await this.#agent.acknowledge(upTo, facts, isBusy).catch(() => {})
  }

  async release(): Promise<void> {
    // It is sent: a keeper that is frozen does it when it goes on.
    await settlesWithin(RELEASE_MS, this.#agent.release(), this.#time)
  }
}
