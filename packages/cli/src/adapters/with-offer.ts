import { isAgentprotoError } from '@agentproto/contracts'
import type { CliContext } from '../cli-context.js'

/**
 * Does work that starts an agent. Where there is no adapter of its name, but the registry has an agent of it, a person at a terminal
 * is asked whether to add it, and then the work is done again. Without a terminal the failure says how to add it.
 */
export async function withOffer<T>(context: CliContext, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'adapter_not_found') throw thrown
    // Loaded only here: most starts need nothing of it.
    await (await import('./offer-agent.js')).offerAgent(context, name, thrown)
    return work()
  }
}
