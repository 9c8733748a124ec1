import { AgentprotoError, defined, isAgentprotoError } from '@agentproto/contracts'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import { endpointPlace, guardEndpoint, reachEndpoint } from '@agentproto/driver-agent-cli/installation'
import {
  type AgentAnswers,
  type AgentCliManifest,
  type AgentEndpoint,
  formatProblem,
  isAdapterId,
  manifestTemplate,
  parseAgentCli,
} from '@agentproto/manifest'
import { addAdapterFiles } from './add-adapter-files.js'
import type { ProvisionHost } from './provision-host.js'

/** An agent that runs elsewhere, as its owner names it. */
export interface EndpointWish {
  readonly url: string
  /** The slug of the adapter. */
  readonly slug: string
  /** Headers, each with the slug of the secret that it carries. */
  readonly secretHeaders?: Readonly<Record<string, string>>
  /** The owner consents to an address on this machine or in a private network, and to a connection without encryption there. */
  readonly allowPrivate?: boolean
  /** Add an agent that does not shake hands. */
  readonly force?: boolean
}

/** What adding it would write, for the owner to confirm. */
export interface EndpointPlan extends NonNullable<AdapterSummary['endpoint']> {
  readonly slug: string
  /** Where its name leads now; empty where that is not known. */
  readonly addresses: readonly string[]
  readonly encrypted: boolean
  /** `host:port` that the owner consents to; absent where no consent is needed. */
  readonly consent?: string
}

/** What adding needs of the adapters of the home. */
export interface EndpointParts {
  readonly host: ProvisionHost
  /** Where the adapter of a name is, valid or not. */
  readonly sourceOf: (slug: string) => Promise<AdapterSummary['source'] | undefined>
}

/**
 * What would be added. Nothing is connected to.
 * @throws `manifest_invalid`, `adapter_exists`, `endpoint_not_allowed`
 */
export async function planEndpoint(wish: EndpointWish, { host, sourceOf }: EndpointParts): Promise<EndpointPlan> {
  const endpoint = endpointOf(wish)
  if ((await sourceOf(wish.slug)) !== undefined)
    throw new AgentprotoError('adapter_exists', 'Another adapter has this slug', {
      given: wish.slug,
      hint: `Choose another slug with --as, or remove it: agentproto adapters remove ${wish.slug}`,
    })
  const url = new URL(endpoint.url)
  const place = endpointPlace(url)
  const [addresses, isFree] = await reachOf(endpoint.url, { host, place, wish })
  return {
    slug: wish.slug,
    url: endpoint.url,
    headers: Object.keys(endpoint.headers),
    secrets: [...endpoint.secrets],
    addresses,
    encrypted: url.protocol === 'wss:',
    ...(isFree ? {} : { consent: place }),
  }
}

/** Where it leads, and whether that needs no consent beyond those that there are. */
async function reachOf(
  url: string,
  { host, place, wish }: { readonly host: ProvisionHost; readonly place: string; readonly wish: EndpointWish },
): Promise<readonly [readonly string[], boolean]> {
  try {
    return [(await guardEndpoint(url, host)).addresses, true]
  } catch (thrown) {
    // A name that is not found yet needs no consent, and has no address.
    if (!isAgentprotoError(thrown)) return [[], true]
    if (wish.allowPrivate !== true) throw thrown
    return [(await guardEndpoint(url, consenting(host, place))).addresses, false]
  }
}

/**
 * Shakes hands with the agent and writes its adapter into the home.
 * @param consent writes the owner's consent into config.json, after the handshake and before the adapter
 * @throws as `planEndpoint`; `secret_not_found`, `auth_required`, `handshake_failed`, `timeout`, `cancelled`: nothing is written then
 */
export async function addEndpoint(
  wish: EndpointWish,
  parts: EndpointParts,
  { consent, signal }: { readonly consent: (place: string) => Promise<void>; readonly signal: AbortSignal },
): Promise<AgentCliManifest> {
  const plan = await planEndpoint(wish, parts)
  const host = plan.consent === undefined ? parts.host : consenting(parts.host, plan.consent)
  const answers = await answersOf(wish, host, signal)
  if (plan.consent !== undefined) await consent(plan.consent)
  const files = manifestTemplate({ id: wish.slug, protocol: 'acp', endpoint: blockOf(wish), ...defined({ answers }) })
  return (await addAdapterFiles({ slug: wish.slug, files, mayHaveEndpoint: true }, host, signal)).manifest
}

/** The host with one more consent, which is not written yet. */
const consenting = (host: ProvisionHost, place: string): ProvisionHost => ({
  ...host,
  privateEndpoints: async () => [...((await host.privateEndpoints?.()) ?? []), place],
})

async function answersOf(
  wish: EndpointWish,
  host: ProvisionHost,
  signal: AbortSignal,
): Promise<AgentAnswers | undefined> {
  try {
    const { info } = await reachEndpoint(endpointOf(wish), host, signal)
    const { load, image, audio, embeddedContext, mcpHttp, mcpSse } = info.capabilities
    const offered = { loadSession: load, image, audio, embeddedContext, mcpHttp, mcpSse }
    return { ...defined({ name: info.name, version: info.version }), ...offered, modes: [], models: [], logins: [] }
  } catch (thrown) {
    if (wish.force !== true || signal.aborted) throw thrown
    return undefined
  }
}

/** As a manifest has it. A login is a bearer token; any other header has the secret alone. */
const blockOf = ({ url, secretHeaders = {} }: EndpointWish) => ({
  url,
  ...(Object.keys(secretHeaders).length === 0 ? {} : { headers: headersOf(secretHeaders) }),
})

const headersOf = (secretHeaders: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secretHeaders).map(([name, slug]) => [
      name,
      `${name.toLowerCase() === 'authorization' ? 'Bearer ' : ''}{secret:${slug}}`,
    ]),
  )

/** @throws `manifest_invalid`, `invalid_request` */
function endpointOf(wish: EndpointWish): AgentEndpoint {
  const { slug } = wish
  if (!isAdapterId(slug))
    throw new AgentprotoError('invalid_request', 'The slug cannot be that of an adapter', {
      expected: 'lower-case letters, digits and hyphens, at most 64',
      given: slug,
    })
  const text = manifestTemplate({ id: slug, protocol: 'acp', endpoint: blockOf(wish) }).get('AGENT-CLI.md') ?? ''
  const parsed = parseAgentCli(text, { path: `${slug}/AGENT-CLI.md` })
  if (parsed.ok && parsed.manifest.protocol === 'acp' && parsed.manifest.endpoint !== undefined)
    return parsed.manifest.endpoint
  const problems = parsed.ok ? [] : parsed.problems
  throw new AgentprotoError('manifest_invalid', problems.map(formatProblem).join('\n'), { data: { problems } })
}
