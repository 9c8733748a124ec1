import { type Command, Option } from 'commander'
import type { SetSecretOptions } from '../commands/secrets.js'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'

const HELP = `
Examples:
  $ agentproto secrets set anthropic-api-key            asks for the value, and does not show it
  $ printf %s "$KEY" | agentproto secrets set acme/key
  $ agentproto secrets set acme/login --oauth < tokens.json

A value is never printed, and never an argument: others could read it in the list of processes.
An agent is given the secrets that its adapter declares, in its environment alone.`

export function addSecretCommands(program: Command, run: Run): void {
  const secrets = program.command('secrets').description('keys that agents are given').addHelpText('after', HELP)
  secrets
    .command('set')
    .description('keep a secret; its value comes from stdin, or is asked for')
    .argument('<slug>', 'its name, such as acme/key')
    .addOption(
      new Option('--store <store>', 'where to keep it (default: the keyring where there is one)').choices([
        'keyring',
        'file',
      ]),
    )
    .option('--oauth', 'tokens: JSON with access_token, refresh_token and expires_at')
    .option('--json', 'as JSON')
    .action((slug: string, options: SetSecretOptions) =>
      run(async (io) => (await commands()).setSecret(io, slug, options)),
    )
  secrets
    .command('list')
    .description('list them, with whether each is set; never a value')
    .option('--json', 'as JSON')
    .action((options: JsonOption) => run(async (io) => (await commands()).listSecrets(io, options)))
  secrets
    .command('rm')
    .description('remove a secret')
    .argument('<slug>')
    .option('--json', 'as JSON')
    .action((slug: string, options: JsonOption) =>
      run(async (io) => (await commands()).removeSecret(io, slug, options)),
    )
}

const commands = (): Promise<typeof import('../commands/secrets.js')> => import('../commands/secrets.js')
