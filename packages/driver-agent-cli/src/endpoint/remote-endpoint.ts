import type { EndpointAccess, RemoteEndpoint } from '@agentproto/acp'
import { AgentprotoError } from '@agentproto/contracts'
import { type AgentEndpoint, fillSecrets } from '@agentproto/manifest'
import type { Secrets } from '@agentproto/secrets'
import { type EndpointRules, guardEndpoint } from './guard-endpoint.js'

export interface EndpointHost extends EndpointRules {
  readonly secrets?: Pick<Secrets, 'resolve'> | undefined
}

/** What the arm needs of an endpoint. Everything is checked and looked up again at each connect: a consent or a secret may have changed. */
export const remoteEndpoint = (endpoint: AgentEndpoint, host: EndpointHost): RemoteEndpoint => ({
  url: endpoint.url,
  secrets: endpoint.secrets,
  connect: async (): Promise<EndpointAccess> => {
    const { lookup } = await guardEndpoint(endpoint.url, host)
    return { headers: await filledHeaders(endpoint, host), lookup }
  },
})

/** @throws `secret_not_found`, `invalid_request` for a secret that no header can carry; no error has the value */
async function filledHeaders(endpoint: AgentEndpoint, { secrets }: EndpointHost): Promise<Record<string, string>> {
  const values = new Map<string, string>()
  for (const slug of endpoint.secrets) values.set(slug, await headerSecret(slug, secrets))
  return Object.fromEntries(
    Object.entries(endpoint.headers).map(([name, template]) => [name, fillSecrets(template, values)]),
  )
}

async function headerSecret(slug: string, secrets: EndpointHost['secrets']): Promise<string> {
  const resolved = await secrets?.resolve({ slug })
  if (resolved === undefined)
    throw new AgentprotoError('secret_not_found', 'A secret that the endpoint of the agent needs is not set', {
      given: slug,
      hint: `Set it: agentproto secrets set ${slug}`,
    })
  // A line break would begin another header.
  if (/^[\x20-\x7E]+$/.test(resolved.text)) return resolved.text
  throw new AgentprotoError(
    'invalid_request',
    'A secret that the endpoint of the agent needs cannot be sent in a header',
    {
      expected: 'printable ASCII characters on one line',
      given: slug,
      hint: `Set it again: agentproto secrets set ${slug}`,
    },
  )
}
