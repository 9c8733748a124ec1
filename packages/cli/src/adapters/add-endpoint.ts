import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AddedAgent } from '@agentproto/contracts/wire'
import type { EndpointWish } from '@agentproto/runtime'
import { paintFor, print, warn, type CliContext } from '../cli-context.js'
import { gatewayUrl } from '../daemon/gateway-url.js'
import { withAudit } from '../home-audit.js'
import { endpointLines } from '../render/endpoint-plan.js'
import { confirm, isAttended } from './confirm.js'
import { addConsent } from './endpoint-consent.js'

/** How an agent that runs elsewhere is added. */
export interface EndpointOptions {
  readonly as?: string
  /** Slugs of secrets by the names of headers. */
  readonly secretHeader?: Readonly<Record<string, string>>
  readonly allowPrivate?: boolean
  readonly force?: boolean
}

/** Whether a source is the address of an agent that runs elsewhere. */
export const isEndpoint = (source: string): boolean => /^wss?:/i.test(source)

/**
 * Adds an agent that runs elsewhere to the home, after its owner has seen what is sent where.
 * @throws `forbidden` where the gateway is another's; as `Endpoints.add` of the runtime
 */
export async function addEndpoint(
  context: CliContext,
  url: string,
  { options, signal }: { readonly options: EndpointOptions; readonly signal: AbortSignal },
): Promise<AddedAgent> {
  if (gatewayUrl(context.env) !== undefined) throw notHere()
  const wish = wishOf(url, options)
  const { openEndpoints } = await import('@agentproto/runtime')
  const endpoints = await openEndpoints({
    env: context.env,
    cwd: context.cwd,
    onProblem: (problem) => warn(context, problem),
  })
  const plan = await endpoints.plan(wish)
  print(context.stderr, endpointLines(plan, paintFor(context, context.stderr)))
  if (isAttended(context) && !(await confirm(context, 'Add it?', signal)))
    throw new AgentprotoError('cancelled', 'Nothing was added')
  const { slug: adapter, url: address, secrets } = plan
  return withAudit(context, { action: 'adapter-add', adapter, source: address, secrets }, () =>
    endpoints.add(wish, { signal, consent: (place) => addConsent(context, adapter, place) }),
  )
}

function wishOf(
  url: string,
  { as: slug, secretHeader: secretHeaders, allowPrivate, force }: EndpointOptions,
): EndpointWish {
  if (slug !== undefined) return { url, slug, ...defined({ secretHeaders, allowPrivate, force }) }
  throw new AgentprotoError('invalid_request', 'An agent that runs elsewhere needs a name here', {
    expected: 'a slug',
    hint: 'agentproto adapters add <url> --as <slug>',
  })
}

const notHere = (): AgentprotoError =>
  new AgentprotoError(
    'forbidden',
    'An agent that runs elsewhere is added by the owner of the gateway, on its machine',
    {
      given: 'AGENTPROTO_URL is set',
      hint: 'Run it there, in the home of the gateway, without AGENTPROTO_URL',
    },
  )
