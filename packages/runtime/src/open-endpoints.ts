import { isAgentprotoError } from '@agentproto/contracts'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { AddedAgent } from '@agentproto/contracts/wire'
import type { EndpointPlan, EndpointWish } from '@agentproto/provisioning'
import { createRedactor } from '@agentproto/secrets'
import { assertHomeReadable, openOfflineAudit } from '@agentproto/server'
import type { OpenAdaptersOptions } from './open-adapters.js'
import { openAgents } from './open-agents.js'
import { layoutOf, settingsOf } from './settings.js'

/** Adds agents that run elsewhere to a home. Only its owner can: no surface of a gateway does it. */
export interface Endpoints {
  /** What would be added; nothing is connected to. @throws `manifest_invalid`, `adapter_exists`, `endpoint_not_allowed` */
  plan(wish: EndpointWish): Promise<EndpointPlan>
  /**
   * Shakes hands with the agent, and writes its adapter.
   * @param options.consent writes the owner's consent to an address into config.json, before the adapter is written
   * @throws as `plan`; `secret_not_found`, `auth_required`, `handshake_failed`, `timeout`, `cancelled`
   */
  add(
    wish: EndpointWish,
    options: { readonly consent: (place: string) => Promise<void>; readonly signal: AbortSignal },
  ): Promise<AddedAgent>
}

/** Opens the home for agents that run elsewhere. @throws `invalid_request` when its config.json is not valid, `home_newer`, `home_invalid` */
export async function openEndpoints(options: OpenAdaptersOptions = {}): Promise<Endpoints> {
  assertHomeReadable(layoutOf(options).root)
  const settings = await settingsOf(options)
  const { onProblem = () => undefined } = settings
  const audit = openOfflineAudit({ ...settings, onProblem })
  const { adapters, host } = openAgents(settings, { redactor: createRedactor(), onProblem, audit })
  const sourceOf = (slug: string): Promise<AdapterSummary['source'] | undefined> =>
    adapters.get(slug).then(
      ({ source }) => source,
      (thrown: unknown) => {
        if (isAgentprotoError(thrown) && thrown.code === 'adapter_not_found') return undefined
        // One that is left out has the slug, too.
        if (isAgentprotoError(thrown) && thrown.code === 'manifest_invalid') return 'user'
        throw thrown
      },
    )
  return {
    plan: async (wish) => (await import('@agentproto/provisioning')).planEndpoint(wish, { host, sourceOf }),
    add: async (wish, adding) => {
      const { addEndpoint } = await import('@agentproto/provisioning')
      const { id } = await addEndpoint(wish, { host, sourceOf }, adding)
      return { adapter: await adapters.get(id), state: await adapters.state(id) }
    },
  }
}
