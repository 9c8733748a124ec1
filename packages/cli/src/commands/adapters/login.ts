import type { Command } from 'commander'
import { provisionUntil } from '../../adapters/provision.js'
import { examples, type Run } from '../../command-definition.js'

export function define(command: Command, run: Run): void {
  command
    .description('log in to an agent')
    .argument('<slug>')
    .option('--force', 'log in again')
    .option('--json', 'print the new state as JSON')
    .addHelpText('after', examples('adapters login claude-code'))
    .action(run(provisionUntil('login')))
}
