import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import type { AdapterService, FoundAgent } from '@agentproto/contracts/wire'
import { paintFor, print, type CliContext } from '../cli-context.js'
import { planLines } from '../render/agent-plan.js'
import { interruptible } from '../signals.js'
import { followAdding } from './add-agent.js'
import { confirm, isAttended } from './confirm.js'
import { openAdapters } from './open-adapters.js'

/** How long the registry's copy is looked for before a failure is reported without it, in milliseconds. */
const LOOK_MS = 2_000

/**
 * Offers to add an agent of the registry, where there is no adapter of its name.
 * @param thrown that there is none
 * @returns when it is added
 * @throws the failure, with how to add the agent if the registry has it
 */
export async function offerAgent(context: CliContext, name: string, thrown: AgentprotoError): Promise<void> {
  const adapters = await openAdapters(context)
  const id = name.replace(/^acp:/, '')
  const agent = await inCopy(adapters, id)
  if (agent === undefined) throw thrown
  if (agent.slug !== undefined) throw calledOtherwise(thrown, agent.slug)
  if (!isAttended(context) || !(await offer(context, adapters, id))) throw notAdded(thrown, id)
}

/** Only the copy of the registry is looked at: a failure is not to wait for the network. */
async function inCopy(adapters: AdapterService, id: string): Promise<FoundAgent | undefined> {
  try {
    const { agents } = await adapters.search({ mode: 'offline' }, AbortSignal.timeout(LOOK_MS))
    return agents.find(({ registryId }) => registryId === id)
  } catch (thrown) {
    // Also of a caller that may not look at the registry.
    if (isAgentprotoError(thrown)) return undefined
    throw thrown
  }
}

/** Shows what would be installed, asks, and adds it. @returns whether it is added */
async function offer(context: CliContext, adapters: AdapterService, id: string): Promise<boolean> {
  const added = await interruptible(async (signal) => {
    const plan = await adapters.lookUp(id, {}, signal)
    print(context.stderr, [
      `There is no adapter ${id}, but the registry has an agent of that id:`,
      ...planLines(plan, paintFor(context, context.stderr)),
    ])
    if (!(await confirm(context, 'Add it?', signal))) return false
    const start = (trust: object) => adapters.addAgent(id, { ...trust, signal })
    await followAdding(context, start, { trust: {}, signal })
    return true
  })
  return added === true
}

const notAdded = (cause: AgentprotoError, id: string): AgentprotoError =>
  new AgentprotoError('adapter_not_found', `There is no adapter ${id}, but the registry has an agent of that id`, {
    hint: `Add it with: agentproto adapters add acp:${id}`,
    cause,
  })

const calledOtherwise = (cause: AgentprotoError, slug: string): AgentprotoError =>
  new AgentprotoError('adapter_not_found', 'The agent of that id in the registry has another name here', {
    expected: slug,
    hint: `See it with: agentproto adapters show ${slug}`,
    cause,
  })
