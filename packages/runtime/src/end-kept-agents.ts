import { existsSync } from 'node:fs'
import { homeLayout } from '@agentproto/contracts/agent'
import { lockBriefly } from '@agentproto/server/home'
import { endAllKept } from './open-agent-keeper.js'

/**
 * Ends the agents that a gateway has left to the next one, and returns when their processes are gone. Their sessions can be
 * resumed, as after any end of an agent.
 * @param home Folder of the gateway's state
 * @returns how many there were
 * @throws `daemon_running` when a gateway has the home, `keeper_unavailable`
 */
export async function endKeptAgents(home: string): Promise<number> {
  const { keeper } = homeLayout(home)
  if (!existsSync(keeper)) return 0
  const lock = await lockBriefly(home)
  try {
    return await endAllKept(keeper)
  } finally {
    lock.release()
  }
}
