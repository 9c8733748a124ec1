import type { Define } from '../../cli-command.js'
import { provisionUntil } from '../../adapters/provision.js'

export const define: Define = (command) =>
  command
    .description('install an agent and check its version; at a terminal, also set it up and log in')
    .argument('<slug>')
    .option('--force', 'install it again')
    .option('--latest', 'install the newest version, not the one that was tested')
    .option('--allow-unverified', 'use a script, or a file of a registry, that has no checksum')
    .json('print the new state as JSON')
    .examples('adapters install opencode', 'adapters install opencode --force', 'adapters install opencode --latest')
    .run(provisionUntil('install'))
