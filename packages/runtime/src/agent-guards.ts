import { isAgentprotoError } from '@agentproto/contracts'
import type { AgentGuard } from '@agentproto/contracts/agent'
import type { HomeKeeper } from '@agentproto/keeper'

/** Markers that a keeper takes (docs/keeper.md, "Bounds"). */
const MOST = 4_096

/** Lets the keeper end agents that this gateway cannot end in time, since it is frozen or gone, and knows when it cannot. */
export class AgentGuards {
  readonly #keeper: Pick<HomeKeeper, 'guard'>
  readonly #onProblem: (problem: string) => void
  #refused = 0
  #problem: string | undefined

  constructor(keeper: Pick<HomeKeeper, 'guard'>, onProblem: (problem: string) => void) {
    this.#keeper = keeper
    this.#onProblem = onProblem
  }

  /** Guards that named agents which the keeper does not guard. */
  get refused(): number {
    return this.#refused
  }

  /** Why agents could run on while this gateway is frozen; undefined while none could. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** @throws `keeper_unavailable`; what the keeper heard before counts until it is asked again */
  readonly guard = async (guard: AgentGuard): Promise<void> => {
    const beyond = guard.markers.length - MOST
    // Refused as a whole, those that were guarded before would be ended at the end of their time, while this gateway is well.
    const asked = beyond > 0 ? { ...guard, markers: guard.markers.slice(0, MOST) } : guard
    const why = await this.#refusal(asked)
    this.#note(why ?? (beyond > 0 ? tooMany(beyond) : undefined))
  }

  /** @returns undefined where the keeper guards all that is asked */
  async #refusal(guard: AgentGuard): Promise<string | undefined> {
    try {
      return (await this.#keeper.guard(guard)) ? undefined : EARLIER
    } catch (thrown) {
      if (isAgentprotoError(thrown) && thrown.code === 'keeper_unavailable') throw thrown
      return `the keeper refuses to guard agents: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    }
  }

  /** Reported when it begins, and when it is over: guards come each few seconds. */
  #note(problem: string | undefined): void {
    if (problem !== undefined) this.#refused += 1
    const isNews = (problem === undefined) !== (this.#problem === undefined)
    this.#problem = problem
    if (!isNews) return
    if (problem === undefined) this.#onProblem('The keeper guards all agents of sessions that may move again.')
    else
      this.#onProblem(`Agents of sessions that may move could run on while another host goes on with them: ${problem}.`)
  }
}

const EARLIER =
  'the keeper was started by an earlier agentproto, and cannot end agents while this gateway is frozen. It is replaced once it holds no agent'

const tooMany = (beyond: number): string =>
  `the keeper guards at most ${MOST} agents and processes that they share, and ${beyond} more run`
