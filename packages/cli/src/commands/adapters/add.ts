import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { Command } from 'commander'
import { openAdapters } from '../../adapters/open-adapters.js'
import { print, printJson, type CliContext } from '../../cli-context.js'
import { examples, type JsonOption, type Run } from '../../command-definition.js'

export function define(command: Command, run: Run): void {
  command
    .description('add or replace an adapter of your own, and print its slug')
    .argument('<source>', 'a folder or an npm package with an AGENT-CLI.md')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('adapters add ./my-agent', 'adapters add @acme/our-agent'))
    .action(run(add))
}

/** A source is a folder when a folder has this name, else an npm package. */
async function add(context: CliContext, source: string, { json }: JsonOption): Promise<void> {
  const path = resolve(context.cwd, source)
  const isPath = isAbsolute(source) || source.startsWith('.') || existsSync(path)
  const added = await (await openAdapters(context)).add(isPath ? path : source)
  if (json === true) return printJson(context, added)
  print(context.stdout, added.slug)
  if (!added.installed) print(context.stderr, `Next: agentproto adapters install ${added.slug}`)
}
