import type { Command } from 'commander'
import type { AddOptions } from '../commands/workspace.js'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'

const HELP = `
Examples:
  $ agentproto workspace add . --use
  $ agentproto workspace add ~/code/shop --slug shop --label "Web shop"
  $ agentproto workspace use shop

A session runs in --cwd, else in its --workspace, else in the active workspace.
An adapter says what is run: trust a workspace only if you trust whoever writes into its folder.`

/** They work on the file itself, locked, so that they need no gateway. */
export function addWorkspaceCommands(program: Command, run: Run): void {
  const workspace = program
    .command('workspace')
    .description('name folders that sessions run in')
    .addHelpText('after', HELP)
  workspace
    .command('add')
    .description('add a folder')
    .argument('[path]', 'the folder', '.')
    .option('--slug <slug>', 'its name (default: made from the folder name)')
    .option('--label <text>', 'a free text')
    .option('--use', 'make it the active workspace')
    .option('--json', 'as JSON')
    .action((path: string, options: AddOptions) =>
      run(async (io) => (await commands()).addWorkspace(io, path, options)),
    )
  workspace
    .command('list')
    .description('list them; * is the active one')
    .option('--json', 'as JSON')
    .action((options: JsonOption) => run(async (io) => (await commands()).listWorkspaces(io, options)))
  workspace
    .command('remove')
    .description('forget a workspace; the folder stays')
    .argument('<slug>')
    .option('--json', 'as JSON')
    .action((slug: string, options: JsonOption) =>
      run(async (io) => (await commands()).removeWorkspace(io, slug, options)),
    )
  workspace
    .command('show')
    .description('show one, with whether its folder is there and trusted')
    .argument('[slug]', 'the active one without it')
    .option('--json', 'as JSON')
    .action((slug: string | undefined, options: JsonOption) =>
      run(async (io) => (await commands()).showWorkspace(io, slug, options)),
    )
  workspace
    .command('use')
    .description('make a workspace the active one')
    .argument('<slug>')
    .option('--json', 'as JSON')
    .action((slug: string, options: JsonOption) =>
      run(async (io) => (await commands()).useWorkspace(io, slug, options)),
    )
  addTrust(workspace, run)
}

function addTrust(workspace: Command, run: Run): void {
  workspace
    .command('trust')
    .description('let in the adapters of its own folder, .agentproto/adapters')
    .argument('<slug>')
    .option('--json', 'as JSON')
    .action((slug: string, options: JsonOption) =>
      run(async (io) => (await commands()).trustWorkspace(io, slug, options)),
    )
  workspace
    .command('distrust')
    .description('leave them out again')
    .argument('<slug>')
    .option('--json', 'as JSON')
    .action((slug: string, options: JsonOption) =>
      run(async (io) => (await commands()).distrustWorkspace(io, slug, options)),
    )
}

const commands = (): Promise<typeof import('../commands/workspace.js')> => import('../commands/workspace.js')
