import { type Command, Option } from 'commander'
import type { DoctorOptions } from '../commands/adapters-doctor.js'
import type { ProvisionOptions } from '../commands/adapters-provision.js'
import type { ValidateOptions } from '../commands/manifest.js'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { inputOption } from './option-values.js'

const ADAPTERS_HELP = `
Examples:
  $ agentproto adapters install opencode
  $ agentproto adapters doctor opencode --live
  $ agentproto adapters setup shop --input url=http://127.0.0.1:9000
  $ agentproto adapters add ./my-agent

Agents from npm go into a folder of their own below the home: no root, and nothing on PATH changes.`

const VALIDATE_HELP = `
Examples:
  $ agentproto manifest validate adapters/shop/AGENT-CLI.md
  $ agentproto manifest validate . --format github

The exit code is 1 when a file has an error; warnings alone pass.`

export function addAdapterCommands(program: Command, run: Run): void {
  const adapters = program
    .command('adapters')
    .description('the agents that can be started')
    .addHelpText('after', ADAPTERS_HELP)
  addLookCommands(adapters, run)
  addProvisionCommands(adapters, run)
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

function addLookCommands(adapters: Command, run: Run): void {
  adapters
    .command('list')
    .description('list them, with whether each is installed here')
    .option('--json', 'as JSON')
    .action((options: JsonOption) =>
      run(async (io) => (await import('../commands/adapters.js')).listAdapters(io, options)),
    )
  adapters
    .command('show')
    .description('show one, and how far its agent is installed, set up and logged in')
    .argument('<slug>')
    .option('--json', 'as JSON')
    .action((slug: string, options: JsonOption) =>
      run(async (io) => (await import('../commands/adapters-show.js')).showAdapter(io, slug, options)),
    )
  adapters
    .command('add')
    .description('add an adapter of your own, or replace it')
    .argument('<source>', 'a folder with an AGENT-CLI.md, or an npm package with one')
    .option('--json', 'as JSON')
    .action((source: string, options: JsonOption) =>
      run(async (io) => (await import('../commands/adapters-add.js')).addAdapter(io, source, options)),
    )
  adapters
    .command('doctor')
    .description('examine its agent: exit code 1 when something is wrong')
    .argument('<slug>')
    .option('--live', 'also start it, talk to it, interrupt, resume and end it')
    .option('--prompt <text>', 'what to say to it')
    .option('--long-prompt <text>', 'what to say so that it talks long enough to be interrupted')
    .option('--json', 'as JSON')
    .action((slug: string, options: DoctorOptions) =>
      run(async (io) => (await import('../commands/adapters-doctor.js')).examineAdapter(io, slug, options)),
    )
}

function addProvisionCommands(adapters: Command, run: Run): void {
  adapters
    .command('install')
    .description('install its agent and check its version; at a terminal also set it up and log in')
    .argument('<slug>')
    .option('--force', 'install it again')
    .option('--allow-unverified', 'run an install script that nothing vouches for')
    .option('--json', 'the state afterwards, as JSON')
    .action((slug: string, options: ProvisionOptions) =>
      run(async (io) => (await provisioning()).installAdapter(io, slug, options)),
    )
  adapters
    .command('setup')
    .description('run the setup steps of its agent that are not done')
    .argument('<slug>')
    .option('--force', 'do every step again')
    .option('--workspace <slug>', 'for the sessions of this workspace alone')
    .addOption(inputOption())
    .option('--json', 'the state afterwards, as JSON')
    .action((slug: string, options: ProvisionOptions) =>
      run(async (io) => (await provisioning()).setUpAdapter(io, slug, options)),
    )
  adapters
    .command('login')
    .description('log in to its agent')
    .argument('<slug>')
    .option('--force', 'although it is logged in')
    .option('--json', 'the state afterwards, as JSON')
    .action((slug: string, options: ProvisionOptions) =>
      run(async (io) => (await provisioning()).logInAdapter(io, slug, options)),
    )
}

const provisioning = (): Promise<typeof import('../commands/adapters-provision.js')> =>
  import('../commands/adapters-provision.js')
