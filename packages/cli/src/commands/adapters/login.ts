import type { Define } from '../../cli-command.js'
import { provisionUntil } from '../../adapters/provision.js'

export const define: Define = (command) =>
  command
    .description('log in to an agent')
    .argument('<slug>')
    .option('--force', 'log in again')
    .json('print the new state as JSON')
    .examples('adapters login claude-code')
    .run(provisionUntil('login'))
