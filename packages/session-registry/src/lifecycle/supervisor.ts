import type { Clock, Timer } from '@agentproto/contracts'
import type { RegistryConfig } from '../registry-config.js'

/**
 * Watches one live session: progress and warnings of a long turn, the end of a silent one, sleep for an idle
 * session, and the end of one whose time is up. It looks at the clock when something can be due, so that
 * activity costs one assignment.
 */

export interface SupervisorOptions {
  readonly clock: Clock
  readonly config: RegistryConfig
  /** Idle time after which the session is put to sleep; undefined for one that stays. */
  readonly idleMs: () => number | undefined
  /** When the session has to end, in milliseconds since the epoch; undefined for never. */
  readonly endsAt: () => number | undefined
  /** Tool calls of the turn that have no result yet. */
  readonly openTools: () => number
  /** Whether the turn waits for a person, whose time is not the agent's. */
  readonly isWaiting: () => boolean
  readonly act: SupervisorActions
}

export interface SupervisorActions {
  heartbeat(): void
  progress(elapsedMs: number, idleMs: number): void
  warn(idleMs: number): void
  /** Cancels the turn; it is stopped when it has not ended within the grace. */
  cancelSilent(idleMs: number): void
  sleep(): void
  expire(): void
}

interface WatchedTurn {
  readonly startedAt: number
  heartbeatAt: number
  progressAt: number
  warned: boolean
  cancelled: boolean
}

export class Supervisor {
  readonly #options: SupervisorOptions
  #turn: WatchedTurn | undefined
  #activeAt = 0
  #timer: Timer | undefined
  #running = false

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** The session is live and idle. */
  start(): void {
    this.#running = true
    this.active()
    this.#arm()
  }

  /** The agent did something, whatever it was. */
  active(): void {
    this.#activeAt = this.#options.clock.now()
  }

  turnBegan(): void {
    const now = this.#options.clock.now()
    this.#turn = { startedAt: now, heartbeatAt: now, progressAt: now, warned: false, cancelled: false }
    this.#activeAt = now
    this.#arm()
  }

  turnEnded(): void {
    this.#turn = undefined
    this.active()
    this.#arm()
  }

  stop(): void {
    this.#running = false
    this.#turn = undefined
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    this.#timer?.cancel()
    if (!this.#running) return
    const now = this.#options.clock.now()
    const due = Math.min(...this.#deadlines())
    if (due === Infinity) return
    this.#timer = this.#options.clock.after(Math.max(1, due - now), () => this.#look())
  }

  #deadlines(): number[] {
    const { endsAt, idleMs, config } = this.#options
    const end = endsAt() ?? Infinity
    const turn = this.#turn
    if (turn === undefined) return [end, this.#activeAt + (idleMs() ?? Infinity)]
    return [
      end,
      turn.heartbeatAt + config.heartbeatMs,
      turn.progressAt + config.progressMs,
      turn.warned ? Infinity : this.#activeAt + config.warningMs,
      turn.cancelled ? Infinity : this.#silentAt(),
    ]
  }

  /** Whether a tool runs is not told to the timer: it looks at the first time at which a silence may be too long. */
  #silentAt(): number {
    const { clock, config } = this.#options
    const soonest = this.#activeAt + Math.min(config.inactivityMs, config.toolBudgetMs)
    return soonest > clock.now() ? soonest : this.#activeAt + this.#budget()
  }

  #budget(): number {
    const { config, openTools } = this.#options
    return openTools() > 0 ? config.toolBudgetMs : config.inactivityMs
  }

  /** Something may be due; what is, is done, and the next look is set. */
  #look(): void {
    const { clock, endsAt, act } = this.#options
    const now = clock.now()
    if (now >= (endsAt() ?? Infinity)) return act.expire()
    if (this.#turn === undefined) this.#lookIdle(now)
    else this.#lookTurn(this.#turn, now)
    this.#arm()
  }

  #lookIdle(now: number): void {
    const { idleMs, act } = this.#options
    if (now - this.#activeAt >= (idleMs() ?? Infinity)) act.sleep()
  }

  #lookTurn(turn: WatchedTurn, now: number): void {
    const { config, isWaiting, act } = this.#options
    if (isWaiting()) this.#activeAt = now
    const idle = now - this.#activeAt
    if (now - turn.heartbeatAt >= config.heartbeatMs) {
      turn.heartbeatAt = now
      act.heartbeat()
    }
    if (now - turn.progressAt >= config.progressMs) {
      turn.progressAt = now
      act.progress(now - turn.startedAt, idle)
    }
    if (!turn.warned && idle >= config.warningMs) {
      turn.warned = true
      act.warn(idle)
    }
    if (!turn.cancelled && idle >= this.#budget()) {
      turn.cancelled = true
      act.cancelSilent(idle)
    }
  }
}
