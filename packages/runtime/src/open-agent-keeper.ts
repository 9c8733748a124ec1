import type { HomeKeeper } from '@agentproto/keeper'
import type { Settings } from './settings.js'

/** How long an idle agent that no gateway serves is kept, in milliseconds. */
const ORPHAN_MS = 24 * 60 * 60_000

/** The process that holds the pipes of a home's agents; undefined where there is none: then agents end with the gateway. */
export async function openAgentKeeper(
  { keeper, inMemory, store, layout, clock }: Settings,
  onProblem: (problem: string) => void,
): Promise<HomeKeeper | undefined> {
  // The next gateway finds the agents by the records of their sessions.
  if (keeper !== true || inMemory || typeof store === 'object') return undefined
  const { openKeeper } = await import('@agentproto/keeper')
  try {
    return await openKeeper({ folder: layout.keeper, orphanMs: ORPHAN_MS, clock })
  } catch (thrown) {
    onProblem(`Agents end with this gateway. ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    return undefined
  }
}

/** The gateway ends: a keeper that holds nothing ends too, and any other one waits for the next gateway. */
export async function leaveKeeper(keeper: HomeKeeper): Promise<void> {
  try {
    await keeper.stop()
  } finally {
    keeper.close()
  }
}
