import { Option, type Command } from 'commander'
import { provisionUntil } from '../../adapters/provision.js'
import { addOptionValue, examples, type Run } from '../../command-definition.js'

export function define(command: Command, run: Run): void {
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
    .option('--json', 'print the new state as JSON')
    .addHelpText('after', examples('adapters setup shop --input url=http://127.0.0.1:9000'))
    .action(run(provisionUntil('setup')))
}
