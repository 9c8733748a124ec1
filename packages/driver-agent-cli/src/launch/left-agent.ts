import type { AgentKeeper, KeptAgent } from '@agentproto/contracts/agent'

/** Calls back when an agent goes on without this host. One whose keeper is gone does not: it is ended. */
export async function onLeft({ lost }: Pick<KeptAgent, 'lost'>, left: () => void): Promise<void> {
  const { cause } = await lost
  if (cause !== 'unreachable') left()
}

/** A keeper whose new agents are watched by {@link onLeft}. */
export const leaving = (keeper: AgentKeeper, left: () => void): AgentKeeper => ({
  adopt: (key) => keeper.adopt(key),
  spawn: async (...spawn) => {
    const agent = await keeper.spawn(...spawn)
    void onLeft(agent, left)
    return agent
  },
})
