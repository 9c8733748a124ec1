import { resolve } from 'node:path'
import { defined } from '@agentproto/contracts'
import type { AgentSearch, FoundAgent, FoundAgents } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../../cli-command.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { type ReadOptions, readMode, registryNote } from '../../adapters/registry-options.js'
import type { CliContext } from '../../cli-context.js'
import { byteCount } from '../../doctor/byte-count.js'
import { oneLine } from '../../render/printable.js'
import { tableFor } from '../../render/table.js'
import { interruptible } from '../../signals.js'

interface SearchOptions extends ReadOptions {
  readonly from?: string
}

export const define: Define = (command) =>
  command
    .description('search the agents that there are: those of agentproto, your own, and those of the registry')
    .argument('[text...]', 'words that the id, name, description or authors contain (default: all agents)')
    .option('--refresh', 'ask the registry now, whatever the age of its copy')
    .option('--offline', 'use the copy of the registry, whatever its age')
    .option('--from <file>', 'a registry document or one entry, to use in place of the registry')
    .json()
    .examples('adapters search', 'adapters search claude', 'adapters search --offline --json')
    .run(search)

async function search(
  context: CliContext,
  ...[words, options]: [readonly string[], SearchOptions]
): Promise<CommandResult | number> {
  return interruptible(async (signal) => {
    const { from, offline } = options
    const query: AgentSearch = {
      ...(words.length === 0 ? {} : { text: words.join(' ') }),
      // Only few agents are looked up.
      ...(offline === true ? {} : { sizes: true }),
      ...defined({ mode: readMode(options), from: from === undefined ? undefined : resolve(context.cwd, from) }),
    }
    const found = await (await openAdapters(context)).search(query, signal)
    const nothing = found.agents.length > 0 ? [] : ['No agent has these words. To list all: agentproto adapters search']
    const note = [registryNote(context, found), ...nothing].filter(Boolean).join('\n')
    return { json: found, text: found.agents.length === 0 ? undefined : table(context, found), note }
  })
}

function table(context: CliContext, { agents }: FoundAgents): readonly string[] {
  const hasSizes = agents.some(({ bytes }) => bytes !== undefined)
  return tableFor<FoundAgent>(context, agents, (paint) => [
    { title: 'AGENT', cell: nameOf, paint: paint.cyan },
    { title: 'NAME', cell: ({ name }) => oneLine(name), shrinkTo: 10 },
    { title: 'VERSION', cell: ({ version = '' }) => version, shrinkTo: 8, dropOrder: 3 },
    {
      title: 'INSTALLED',
      cell: ({ installed }) => (installed ? 'yes' : ''),
      paint: (cell) => paint.green(cell),
    },
    { title: 'TESTED', cell: ({ tested }) => (tested === undefined ? '' : 'yes'), dropOrder: 1 },
    { title: 'LICENCE', cell: ({ license = '' }) => oneLine(license), shrinkTo: 8, dropOrder: 4 },
    ...(hasSizes ? [{ title: 'SIZE', cell: sizeOf, align: 'right' as const }] : []),
    { title: 'HERE', cell: ({ unavailable = '' }) => oneLine(unavailable), shrinkTo: 10, dropOrder: 5 },
  ])
}

/** What it is started or added by. */
const nameOf = ({ slug, registryId = '' }: FoundAgent): string => slug ?? `acp:${registryId}`

const sizeOf = ({ bytes }: FoundAgent): string => (bytes === undefined ? '' : byteCount(bytes))
