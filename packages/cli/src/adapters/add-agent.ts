import { defined, isAgentprotoError } from '@agentproto/contracts'
import type { AddAgentEvent, AddedAgent } from '@agentproto/contracts/wire'
import type { CliContext } from '../cli-context.js'
import { confirm, isAttended } from './confirm.js'
import { ProvisionView } from './provision-view.js'
import type { TrustOptions } from './trust-options.js'

/** Starts adding or updating an agent with what the user allows. */
export type StartAdding = (trust: TrustOptions) => AsyncIterable<AddAgentEvent>

/**
 * Adds or updates an agent, and shows its progress. At a terminal it asks before a download without a checksum is used.
 * @throws what adding throws
 */
export async function followAdding(
  context: CliContext,
  start: StartAdding,
  { trust, signal }: { readonly trust: TrustOptions; readonly signal: AbortSignal },
): Promise<AddedAgent> {
  const allowed = defined({
    sha256: trust.sha256,
    allowUnverified: trust.allowUnverified,
    allowScripts: trust.allowScripts,
    force: trust.force,
  })
  try {
    return await follow(context, start(allowed))
  } catch (thrown) {
    const url = isAgentprotoError(thrown) ? thrown.parts.data?.['unverified'] : undefined
    if (typeof url !== 'string' || !isAttended(context)) throw thrown
    // The plan has shown the address; a terminal of 80 columns would cut the question behind it.
    const question = 'There is no checksum. Use this file, and only it from now on?'
    if (!(await confirm(context, question, signal))) throw thrown
    return follow(context, start({ ...allowed, allowUnverified: true }))
  }
}

async function follow(context: CliContext, events: AsyncIterable<AddAgentEvent>): Promise<AddedAgent> {
  const view = new ProvisionView(context)
  let added: AddedAgent | undefined
  try {
    for await (const event of events) {
      view.handle(event)
      if (event.type === 'added') added = { adapter: event.adapter, state: event.state }
    }
  } finally {
    view.release()
  }
  if (added === undefined) throw new Error('The work ended without an adapter')
  return added
}
