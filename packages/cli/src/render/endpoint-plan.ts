import type { EndpointPlan } from '@agentproto/runtime'
import type { Paint } from './paint.js'
import { oneLine } from './printable.js'

/** What adding an agent that runs elsewhere would write, for the owner who decides about it. Values of secrets are not known here. */
export function endpointLines(plan: EndpointPlan, paint: Paint): readonly string[] {
  const { slug, url, addresses, headers, secrets } = plan
  const facts = [
    `at ${addresses.length === 0 ? 'an address that is not known yet' : addresses.join(', ')}`,
    ...(headers.length === 0 ? ['nothing is sent to log in'] : [`headers: ${headers.join(', ')}`]),
    ...(secrets.length === 0 ? [] : [`with the secrets: ${secrets.join(', ')}`]),
  ]
  return [
    `${paint.bold(oneLine(url))}, called ${slug} here`,
    paint.dim(`  ${oneLine(facts.join('; '))}`),
    `${paint.yellow('!')} It gets the prompts of its sessions and the paths of their folders.`,
    ...(plan.encrypted ? [] : [`${paint.yellow('!')} The connection is not encrypted.`]),
    ...(plan.consent === undefined
      ? []
      : [`${paint.yellow('!')} ${plan.consent} is private, and is added to endpoints.private in config.json.`]),
  ]
}
