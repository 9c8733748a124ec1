import { defined } from '@agentproto/contracts'
import type { AdapterUpdate } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../../cli-command.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { type ReadOptions, readMode, registryNote } from '../../adapters/registry-options.js'
import type { CliContext } from '../../cli-context.js'
import { tableFor } from '../../render/table.js'
import { interruptible } from '../../signals.js'

export const define: Define = (command) =>
  command
    .description('list the installed agents for which the registry has another version')
    .option('--refresh', 'ask the registry now, whatever the age of its copy')
    .option('--offline', 'use the copy of the registry, whatever its age')
    .json()
    .examples('adapters outdated', 'adapters outdated --refresh')
    .run(outdated)

async function outdated(context: CliContext, options: ReadOptions): Promise<CommandResult | number> {
  return interruptible(async (signal) => {
    const found = await (await openAdapters(context)).outdated(defined({ mode: readMode(options) }), signal)
    const { updates, gone } = found
    const missing = gone.length === 0 ? [] : [`No longer in the registry: ${gone.join(', ')}`]
    const next = updates.length === 0 ? ['All agents are up to date.'] : ['Update with: agentproto adapters update']
    const note = [registryNote(context, found), ...missing, ...next].filter(Boolean).join('\n')
    return { json: found, text: updates.length === 0 ? undefined : table(context, updates), note }
  })
}

const table = (context: CliContext, updates: readonly AdapterUpdate[]): readonly string[] =>
  tableFor<AdapterUpdate>(context, updates, (paint) => [
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    { title: 'INSTALLED', cell: ({ installed = 'unknown' }) => installed },
    { title: 'AVAILABLE', cell: ({ available }) => available, paint: paint.green },
    { title: 'NOTE', cell: noteOf, shrinkTo: 10, dropOrder: 1 },
  ])

function noteOf({ bundled, edited }: AdapterUpdate): string {
  if (bundled) return 'its adapter is tested with the version that is there'
  return edited ? 'you have edited its manifest' : ''
}
