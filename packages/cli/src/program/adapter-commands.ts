import { type Command, Option } from 'commander'
import type { Run } from '../io.js'
import type { JsonOption } from './workspace-commands.js'

export interface ValidateOptions extends JsonOption {
  readonly format: 'text' | 'json' | 'github'
}

const VALIDATE_HELP = `
Examples:
  $ agentproto manifest validate adapters/shop/AGENT-CLI.md
  $ agentproto manifest validate . --format github

The exit code is 1 when a file has an error; warnings alone pass.`

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
    .argument('<path...>', 'manifest files, and folders to look for them in')
    .addOption(
      new Option('--format <format>', 'how problems are shown').choices(['text', 'json', 'github']).default('text'),
    )
    .option('--json', 'the same as --format json')
    .addHelpText('after', VALIDATE_HELP)
    .action((files: string[], options: ValidateOptions) =>
      run(async (io) => (await import('../commands/manifest.js')).validateManifests(io, files, options)),
    )
}
