import type { Command } from 'commander'
import { provisionUntil } from '../../adapters/provision.js'
import { examples, type Run } from '../../command-definition.js'

export function define(command: Command, run: Run): void {
  command
    .description('install an agent and check its version; at a terminal, also set it up and log in')
    .argument('<slug>')
    .option('--force', 'install it again')
    .option('--allow-unverified', 'run an install script that has no checksum')
    .option('--json', 'print the new state as JSON')
    .addHelpText('after', examples('adapters install opencode', 'adapters install opencode --force'))
    .action(run(provisionUntil('install')))
}
