import { isAgentprotoError } from '@agentproto/contracts'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { AdapterService } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../../cli-command.js'
import { openOwnAdapters } from '../../adapters/open-adapters.js'
import { warn, type CliContext } from '../../cli-context.js'
import { isOwnGateway } from '../../daemon/connect.js'

export const define: Define = (command) =>
  command
    .description('remove an adapter of your own, and its agent')
    .argument('<slug>')
    .json()
    .examples('adapters remove my-agent')
    .run(remove)

async function remove(context: CliContext, slug: string): Promise<CommandResult> {
  const adapters = await openOwnAdapters(context)
  const endpoint = await endpointOf(adapters, slug)
  const removed = await adapters.remove(slug)
  const consentsRemoved = endpoint === undefined ? [] : await dropConsentsOf(context, { slug, endpoint })
  return {
    json: endpoint === undefined ? removed : { ...removed, consentsRemoved },
    note: [noteOf(removed, endpoint), ...consentsRemoved.map(consentNote)].join('\n'),
  }
}

function noteOf(
  { slug, agentRemoved }: Awaited<ReturnType<AdapterService['remove']>>,
  endpoint: AdapterSummary['endpoint'],
): string {
  if (!agentRemoved) return `Removed ${slug}. Another adapter has this name and is used now, with the installed agent.`
  return endpoint === undefined
    ? `Removed ${slug} and its installed agent.`
    : `Removed ${slug}. Its agent runs elsewhere and is not touched.`
}

/** Undefined where its agent runs here. One whose manifest is not valid is removed too, and is not known to have any. */
async function endpointOf(adapters: Pick<AdapterService, 'get'>, slug: string): Promise<AdapterSummary['endpoint']> {
  try {
    return (await adapters.get(slug)).endpoint
  } catch (thrown) {
    if (isAgentprotoError(thrown) && UNKNOWN.has(thrown.code)) return undefined
    throw thrown
  }
}

const UNKNOWN: ReadonlySet<string> = new Set(['adapter_not_found', 'manifest_invalid'])

/** The config.json of a gateway elsewhere is its owner's. */
async function dropConsentsOf(
  context: CliContext,
  removed: Required<Pick<AdapterSummary, 'slug' | 'endpoint'>>,
): Promise<readonly string[]> {
  if (!(await isOwnGateway(context))) return []
  const { dropConsents } = await import('../../adapters/endpoint-consent.js')
  const { openEndpoints } = await import('@agentproto/runtime')
  const onProblem = (problem: string): void => warn(context, problem)
  return dropConsents(context, removed, await openEndpoints({ env: context.env, cwd: context.cwd, onProblem }))
}

const consentNote = (place: string): string =>
  `No other adapter needs ${place}: it is removed from endpoints.private in config.json.`
