import type { HomeLayout } from '@agentproto/contracts/agent'
import { keeperState, keeperText } from '../daemon/keeper-state.js'
import type { Finding } from './finding.js'

/** The process that holds the pipes of agents, and what it holds. */
export async function checkKeeper(home: HomeLayout): Promise<Finding> {
  const state = await keeperState(home)
  if (state === undefined) return { verdict: 'ok', detail: 'not running; a gateway that needs it starts it' }
  const detail = keeperText(state)
  if (state.stalled === undefined) return { verdict: 'ok', detail }
  const hint =
    state.stalled === 'disk'
      ? 'Free disk space: agents wait until what they write can be kept'
      : 'Start the gateway: agents wait because no more of what they write is kept'
  return { verdict: 'warn', detail, hint }
}
