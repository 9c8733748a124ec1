import type { HomeLayout } from '@agentproto/contracts/agent'
import { readDaemon } from '../daemon/daemon-record.js'
import { type KeeperState, keeperState, keeperText } from '../daemon/keeper-state.js'
import type { Finding } from './finding.js'

/** The process that holds the pipes of agents, and what it holds. */
export async function checkKeeper(home: HomeLayout): Promise<Finding> {
  const state = await keeperState(home)
  if (state === undefined) return { verdict: 'ok', detail: 'not running; a gateway that needs it starts it' }
  const detail = keeperText(state)
  const taken = await takenFrom(home, state)
  if (taken !== undefined) return { verdict: 'warn', detail: `${detail}; ${taken}`, hint: TAKEN_HINT }
  if (state.stalled === undefined) return { verdict: 'ok', detail }
  const hint =
    state.stalled === 'disk'
      ? 'Free disk space: agents wait until what they write can be kept'
      : 'Start the gateway: agents wait because no more of what they write is kept'
  return { verdict: 'warn', detail, hint }
}

/** Who has it in place of the gateway of the home. */
async function takenFrom(home: HomeLayout, { controller }: KeeperState): Promise<string | undefined> {
  if (controller === undefined) return undefined
  const gateway = await readDaemon(home)
  if (gateway === undefined || gateway.pid === controller) return undefined
  return controller === 0 ? 'another program has it' : `process ${controller} has it, and not the gateway`
}

const TAKEN_HINT = 'End that program: the gateway takes its keeper back by itself, within 30 seconds'
