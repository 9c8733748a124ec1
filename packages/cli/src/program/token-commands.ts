import { SCOPES } from '@agentproto/contracts'
import { Option, type Command } from 'commander'
import type { CreateTokenOptions } from '../commands/token.js'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'

const HELP = `
Examples:
  $ agentproto token create --name dashboard --scope read
  $ agentproto token create --name ci --scope operate --workspace shop
  $ AGENTPROTO_URL=… AGENTPROTO_TOKEN=… agentproto sessions

read looks, operate starts and drives sessions, admin also changes workspaces, adapters and tokens.
A token's value is printed once; only its hash is stored. Your own commands need none: they read the owner's.`

export function addTokenCommands(program: Command, run: Run): void {
  const token = program.command('token').description('tokens for other programs and people').addHelpText('after', HELP)
  token
    .command('create')
    .description('make a token and print its value, this once')
    .requiredOption('--name <name>', 'what to call it')
    .addOption(new Option('--scope <scope>', 'what it allows').choices([...SCOPES]).makeOptionMandatory())
    .option('--workspace <slug...>', 'bind it to the sessions of these workspaces')
    .option('--json', 'as JSON')
    .action((options: CreateTokenOptions) => run(async (io) => (await commands()).createToken(io, options)))
  token
    .command('list')
    .description('list them, without their values')
    .option('--json', 'as JSON')
    .action((options: JsonOption) => run(async (io) => (await commands()).listTokens(io, options)))
  token
    .command('revoke')
    .description('end a token, and the streams that it holds open')
    .argument('<name>')
    .action((name: string) => run(async (io) => (await commands()).revokeToken(io, name)))
  token
    .command('rotate')
    .description('give a token a new value and print it, this once; the old one ends')
    .argument('<name>')
    .option('--json', 'as JSON')
    .action((name: string, options: JsonOption) => run(async (io) => (await commands()).rotateToken(io, name, options)))
}

const commands = (): Promise<typeof import('../commands/token.js')> => import('../commands/token.js')
