import type { Command } from 'commander'
import type { Run } from '../io.js'
import type { JsonOption } from './workspace-commands.js'

export function addAdapterCommands(program: Command, run: Run): void {
  program
    .command('adapters')
    .description('the agents that can be started')
    .command('list')
    .description('list them, with whether each is installed here')
    .option('--json', 'as JSON')
    .action((options: JsonOption) =>
      run(async (io) => (await import('../commands/adapters.js')).listAdapters(io, options)),
    )
  program
    .command('manifest')
    .description('work on AIP-45 manifests')
    .command('validate')
    .description('check manifests; each problem with its line, column and a suggestion')
    .argument('<file...>', 'AGENT-CLI.md files')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  $ agentproto manifest validate adapters/*/AGENT-CLI.md')
    .action((files: string[], options: JsonOption) =>
      run(async (io) => (await import('../commands/manifest.js')).validateManifests(io, files, options)),
    )
}
