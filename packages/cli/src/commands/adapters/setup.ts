import { Option } from 'commander'
import type { Define } from '../../cli-command.js'
import { provisionUntil } from '../../adapters/provision.js'
import { addOptionValue } from '../../command-definition.js'

export const define: Define = (command) =>
  command
    .description('run the setup steps of an agent that are not done')
    .argument('<slug>')
    .option('--force', 'run every step again')
    .option('--workspace <slug>', 'set it up for the sessions of this workspace only')
    .addOption(
      new Option('--input <step=value>', 'value for a setup step; repeatable')
        .argParser(addOptionValue)
        .default({}, 'none'),
    )
    .json('print the new state as JSON')
    .examples('adapters setup shop --input url=http://127.0.0.1:9000')
    .run(provisionUntil('setup'))
