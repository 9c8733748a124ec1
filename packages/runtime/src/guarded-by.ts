import type { AgentGuard } from '@agentproto/contracts/agent'
import type { HomeKeeper } from '@agentproto/keeper'

/** Lets the keeper end agents that this gateway cannot end in time, since it is frozen or gone. */
export function guardedBy(
  keeper: HomeKeeper,
  onProblem: (problem: string) => void,
): (guard: AgentGuard) => Promise<void> {
  let isReported = false
  return async (guard) => {
    if ((await keeper.guard(guard)) || isReported) return
    isReported = true
    onProblem(
      `The keeper was started by an earlier agentproto, and cannot end agents while this gateway is frozen: those of sessions that may ` +
        'move could run on while another host goes on with them. It is replaced once it holds no agent.',
    )
  }
}
