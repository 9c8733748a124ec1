import { asRecord, isRecord } from '@agentproto/contracts'
import { type RuleContext, valueAt } from './rule-context.js'
import { secretHeaderRule } from './secret-value-rule.js'

/** Where an agent is reached that is not launched: `metadata.agentproto.endpoint`. */
export interface AgentEndpoint {
  /** `ws:` or `wss:`, as the URL standard writes it: a host in any other notation is an address in the usual one. */
  readonly url: string
  /** `{secret:<slug>}` stands for a secret. */
  readonly headers: Readonly<Record<string, string>>
  /** The slugs of the secrets in the headers. */
  readonly secrets: readonly string[]
}

const PLACE = ['metadata', 'agentproto', 'endpoint'] as const
const URL_CHARS_MAX = 2_048
const VALUE_CHARS_MAX = 2_048

const SLUG = '(?:[a-z][a-z0-9-]*[a-z0-9]/)?[a-z][a-z0-9-]*[a-z0-9]'
const PLACEHOLDER = new RegExp(`\\{secret:(${SLUG})\\}`, 'g')
/** Printable ASCII. Any other brace would be a placeholder that is not filled. */
const VALUE = new RegExp(`^(?:[ -z|~]|\\{secret:${SLUG}\\})+$`)
/** What the connection itself writes. */
const OWN_HEADERS =
  /^(?:host|connection|upgrade|content-length|transfer-encoding|te|trailer|expect|keep-alive|proxy-.*|sec-websocket-.*)$/i

/** The endpoint of a document that has passed {@link endpointRules} and the schema. */
export function normaliseEndpoint(metadata: unknown): AgentEndpoint | undefined {
  const endpoint = valueAt({ metadata }, PLACE)
  if (!isRecord(endpoint)) return undefined
  const headers = asRecord(endpoint['headers']) as Readonly<Record<string, string>>
  const secrets = Object.values(headers).flatMap((value) =>
    [...value.matchAll(PLACEHOLDER)].map(([, slug = '']) => slug),
  )
  return { url: new URL(String(endpoint['url'])).href, headers, secrets: [...new Set(secrets)] }
}

/** A header with its secrets. */
export const fillSecrets = (template: string, values: ReadonlyMap<string, string>): string =>
  template.replaceAll(PLACEHOLDER, (_, slug: string) => values.get(slug) ?? '')

/** What the schema cannot say, and what it would quote: an address or a header may hold a secret by mistake. */
export function endpointRules(context: RuleContext): void {
  const { document, problems, keyAt } = context
  const endpoint = valueAt(document, PLACE)
  if (endpoint === undefined) return
  const { protocol } = asRecord(document)
  if (protocol !== 'acp')
    return problems.warn('block_ignored', keyAt(...PLACE), {
      message: '`metadata.agentproto.endpoint` has no effect: only agents that speak ACP are reached by it.',
      expected: 'protocol: acp',
      given: protocol,
    })
  const { url, headers } = asRecord(endpoint)
  if (typeof url === 'string') urlRule(context, url)
  headerRules(context, asRecord(headers))
  processRule(context)
}

function urlRule({ problems, at }: RuleContext, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWhole = text.length <= URL_CHARS_MAX && /^wss?:\/\/[^\s/\\?#{}]+(?:[/?][^\s\\#{}]*)?$/.test(text)
  if (url?.username !== '' || url.password !== '' || !isWhole)
    return problems.error('endpoint_invalid', at(...PLACE, 'url'), {
      message: '`metadata.agentproto.endpoint.url` is not the address of an agent.',
      expected: `wss://host/path of at most ${URL_CHARS_MAX} characters, without a user, a password, a fragment or a placeholder`,
    })
  // Addresses are in logs; headers are not.
  for (const [name, value] of url.searchParams) {
    const place = { path: [...PLACE, 'url'], name, value }
    if (secretHeaderRule({ problems, at }, place)) return
  }
}

function headerRules(context: RuleContext, headers: Readonly<Record<string, unknown>>): void {
  const { problems, at, keyAt } = context
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const path = [...PLACE, 'headers', name]
    if (OWN_HEADERS.test(name) || seen.has(name.toLowerCase())) {
      problems.error('endpoint_invalid', keyAt(...path), {
        message: `The header \`${name.slice(0, 64)}\` cannot be set.`,
        expected: 'each header once, and none that the connection itself writes',
      })
    }
    seen.add(name.toLowerCase())
    if (typeof value !== 'string') continue
    if (value.length > VALUE_CHARS_MAX || !VALUE.test(value))
      problems.error('endpoint_invalid', at(...path), {
        message: `The header \`${name.slice(0, 64)}\` has a value that cannot be sent.`,
        expected: `1 to ${VALUE_CHARS_MAX} printable ASCII characters, and braces only in {secret:<slug>}`,
      })
    else secretHeaderRule({ problems, at }, { path, name, value: value.replaceAll(PLACEHOLDER, '{value}') })
  }
}

/** Nothing is launched, so no argument and no variable reaches the agent. */
function processRule({ document, problems, keyAt }: RuleContext): void {
  const { bin_args: args, options } = asRecord(document)
  for (const [key, value] of Object.entries({ bin_args: args, options })) {
    if (!Array.isArray(value) || value.length === 0) continue
    problems.warn('block_ignored', keyAt(key), {
      message: `\`${key}\` has no effect: the agent runs elsewhere.`,
      expected: 'what the agent offers in an open session, such as session_modes',
    })
  }
}
