import { existsSync } from 'node:fs'
import { homeLayout } from '@agentproto/contracts/agent'
import { connectKeeper, type HomeKeeper } from '@agentproto/keeper'
import { lockBriefly } from '@agentproto/server/home'
import { forgetAgent, leaveKeeper } from './open-agent-keeper.js'

/**
 * Ends the agents that a gateway has left to the next one, and returns when their processes are gone. Their sessions can be
 * resumed, as after any end of an agent.
 * @param home Folder of the gateway's state
 * @returns how many there were
 * @throws `daemon_running` when a gateway has the home, `keeper_unavailable`
 */
export async function endKeptAgents(home: string): Promise<number> {
  const { keeper: folder } = homeLayout(home)
  if (!existsSync(folder)) return 0
  const lock = await lockBriefly(home)
  try {
    const keeper = await connectKeeper({ folder, orphanMs: 0 })
    return keeper === undefined ? 0 : await endAllOf(keeper)
  } finally {
    lock.release()
  }
}

async function endAllOf(keeper: HomeKeeper): Promise<number> {
  try {
    const agents = await keeper.list()
    await Promise.all(agents.map(({ key }) => forgetAgent(keeper, key)))
    return agents.length
  } finally {
    await leaveKeeper(keeper)
  }
}
