import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { CommandResult, Define } from '../../cli-command.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import type { CliContext } from '../../cli-context.js'

export const define: Define = (command) =>
  command
    .description('add or replace an adapter of your own, and print its slug')
    .argument('<source>', 'a folder or an npm package with an AGENT-CLI.md')
    .json()
    .examples('adapters add ./my-agent', 'adapters add @acme/our-agent')
    .run(add)

/** A source is a folder when a folder has this name, else an npm package. */
async function add(context: CliContext, source: string): Promise<CommandResult> {
  const path = resolve(context.cwd, source)
  const isPath = isAbsolute(source) || source.startsWith('.') || existsSync(path)
  const added = await (await openAdapters(context)).add(isPath ? path : source)
  const { slug, installed } = added
  return { json: added, text: slug, note: installed ? undefined : `Next: agentproto adapters install ${slug}` }
}
