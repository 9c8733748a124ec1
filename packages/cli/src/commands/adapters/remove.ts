import type { CommandResult, Define } from '../../cli-command.js'
import { openOwnAdapters } from '../../adapters/open-adapters.js'
import type { CliContext } from '../../cli-context.js'

export const define: Define = (command) =>
  command
    .description('remove an adapter of your own, and its agent')
    .argument('<slug>')
    .json()
    .examples('adapters remove my-agent')
    .run(remove)

async function remove(context: CliContext, slug: string): Promise<CommandResult> {
  const removed = await (await openOwnAdapters(context)).remove(slug)
  const { agentRemoved } = removed
  const note = agentRemoved
    ? `Removed ${slug} and its installed agent.`
    : `Removed ${slug}. Another adapter has this name and is used now, with the installed agent.`
  return { json: removed, note }
}
