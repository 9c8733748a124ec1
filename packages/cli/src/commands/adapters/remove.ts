import type { CommandResult, Define } from '../../cli-command.js'
import type { AdapterRemoved } from '../../adapters/endpoint-consent.js'
import { openOwnAdapters } from '../../adapters/open-adapters.js'
import type { CliContext } from '../../cli-context.js'
import { isOwnGateway } from '../../daemon/connect.js'

export const define: Define = (command) =>
  command
    .description('remove an adapter of your own, and its agent')
    .argument('<slug>')
    .json()
    .examples('adapters remove my-agent')
    .run(remove)

async function remove(context: CliContext, slug: string): Promise<CommandResult> {
  const removed = await (await openOwnAdapters(context)).remove(slug)
  const { consentsLeft, ...rest } = removed
  if (consentsLeft === undefined) return { json: rest, note: noteOf(removed) }
  const consentsRemoved = await dropConsentsOf(context, removed)
  const stay = consentsLeft.filter((place) => !consentsRemoved.includes(place))
  return {
    json: { ...rest, consentsRemoved, consentsLeft: stay },
    note: [noteOf(removed), ...consentsRemoved.map(droppedNote), ...stay.map(leftNote)].join('\n'),
  }
}

function noteOf({ slug, agentRemoved, consentsLeft }: AdapterRemoved): string {
  if (!agentRemoved) return `Removed ${slug}. Another adapter has this name and is used now, with the installed agent.`
  return consentsLeft === undefined
    ? `Removed ${slug} and its installed agent.`
    : `Removed ${slug}. Its agent runs elsewhere and is not touched.`
}

/** The config.json of a gateway elsewhere is its owner's. */
async function dropConsentsOf(context: CliContext, removed: AdapterRemoved): Promise<readonly string[]> {
  if (!(await isOwnGateway(context))) return []
  const { dropConsents } = await import('../../adapters/endpoint-consent.js')
  return dropConsents(context, removed)
}

const droppedNote = (place: string): string =>
  `No other adapter needs ${place}: it is removed from endpoints.private in config.json.`

const leftNote = (place: string): string =>
  `No other adapter needs ${place}: the owner of the gateway can remove it from endpoints.private in config.json.`
