import type { Clock, Timer } from '@agentproto/contracts'
import type { ChangeStore } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import { reviewsOf } from './checkpoint-names.js'

/** Sessions that are forgotten together are pruned together; in milliseconds. */
const GATHER_MS = 1_000
/** How often old checkpoints are looked for, in milliseconds. */
const AGE_MS = 60 * 60_000

export interface PrunerOptions {
  readonly changes?: ChangeStore | undefined
  /** Checkpoints older than this are deleted, in milliseconds; 0 for never. */
  readonly checkpointAgeMs: number
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
}

/** Deletes the checkpoints of forgotten sessions, and old ones. What is missed by a crash is deleted by its age. */
export class CheckpointPruner {
  readonly #options: PrunerOptions
  #forgotten: string[] = []
  #gathering: Timer | undefined
  #ageing: Timer | undefined
  #working: Promise<void> = Promise.resolve()

  constructor(options: PrunerOptions) {
    this.#options = options
  }

  /** Deletes old checkpoints, from now on. */
  start(): void {
    const { changes, checkpointAgeMs, clock } = this.#options
    if (changes === undefined || checkpointAgeMs === 0) return
    this.#prune({ before: clock.now() - checkpointAgeMs })
    this.#ageing = clock.after(AGE_MS, () => this.start())
  }

  forget(sessionId: string): void {
    const { changes, clock } = this.#options
    if (changes === undefined) return
    this.#forgotten.push(sessionId, reviewsOf(sessionId))
    this.#gathering ??= clock.after(GATHER_MS, () => this.#pruneForgotten())
  }

  async close(): Promise<void> {
    this.#ageing?.cancel()
    this.#gathering?.cancel()
    this.#pruneForgotten()
    await this.#working
  }

  #pruneForgotten(): void {
    this.#gathering = undefined
    const sessions = this.#forgotten
    this.#forgotten = []
    if (sessions.length > 0) this.#prune({ sessions })
  }

  #prune(request: Parameters<ChangeStore['prune']>[0]): void {
    const { changes, onProblem } = this.#options
    if (changes === undefined) return
    this.#working = this.#working
      .then(() => changes.prune(request))
      .then(({ problems }) => problems.forEach((problem) => onProblem(`Old checkpoints: ${problem}`)))
      .catch((error: unknown) => onProblem(`Old checkpoints: ${messageOf(error)}`))
  }
}
