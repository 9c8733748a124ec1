import type { CliCommand } from '../../cli-command.js'
import { provisionUntil } from '../../adapters/provision.js'

export function define(command: CliCommand): void {
  command
    .description('log in to an agent')
    .argument('<slug>')
    .option('--force', 'log in again')
    .json('print the new state as JSON')
    .examples('adapters login claude-code')
    .run(provisionUntil('login'))
}
