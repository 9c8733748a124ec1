import type { Command } from 'commander'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'

const HELP = `
Examples:
  $ agentproto config list
  $ agentproto config set sessions.idleMs 300000
  $ agentproto config unset sessions.idleMs

The gateway reads it when it starts. A value that it would refuse is not written.`

/** They work on config.json of the home itself, so that they need no gateway. */
export function addConfigCommands(program: Command, run: Run): void {
  const config = program.command('config').description("the gateway's settings").addHelpText('after', HELP)
  config
    .command('list')
    .description('every key, what it is, and what it does')
    .option('--json', 'as JSON')
    .action((options: JsonOption) => run(async (io) => (await commands()).listConfig(io, options)))
  config
    .command('get')
    .description('print what holds for a key, be it set or the default')
    .argument('<key>')
    .option('--json', 'as JSON')
    .action((key: string, options: JsonOption) => run(async (io) => (await commands()).getConfig(io, key, options)))
  config
    .command('set')
    .description('set a key')
    .argument('<key>')
    .argument('<value>', 'lists by comma or as JSON')
    .option('--json', 'as JSON')
    .action((name: string, text: string, options: JsonOption) =>
      run(async (io) => (await commands()).setConfig(io, { name, text }, options)),
    )
  config
    .command('unset')
    .description('let the default of a key hold again')
    .argument('<key>')
    .option('--json', 'as JSON')
    .action((key: string, options: JsonOption) => run(async (io) => (await commands()).unsetConfig(io, key, options)))
}

const commands = (): Promise<typeof import('../commands/config.js')> => import('../commands/config.js')
