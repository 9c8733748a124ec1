import { Option, type Command } from 'commander'
import type { RunOptions } from '../commands/run.js'
import type { Run } from '../io.js'
import { adapterOption, continuationOption, instructionsOption, permissionsOption, toSeconds } from './option-values.js'

const HELP = `
Examples:
  $ agentproto run demo --prompt "hello"
  $ git diff | agentproto run demo -                     the prompt comes from stdin
  $ agentproto run demo --prompt "write a.txt" --permissions approve-all
  $ agentproto run demo --prompt "hello" --output jsonl  each event as it comes

With --permissions ask (the default) a terminal is asked by key; without one, requests are denied and
the exit code is 5. Text goes to stdout as it comes, everything else to stderr.`

export function addRunCommand(program: Command, run: Run): void {
  program
    .command('run')
    .description('run one prompt in an agent of its own, without a gateway')
    .argument('<adapter>', 'slug of the adapter; see: agentproto adapters list')
    .argument('[prompt]', 'the prompt; - reads it from stdin')
    .option('-p, --prompt <text>', 'the prompt; - reads it from stdin')
    .option('--cwd <folder>', 'folder to run in (default: this one)')
    .option('--mode <id>', "one of the adapter's modes")
    .addOption(instructionsOption())
    .addOption(adapterOption())
    .addOption(permissionsOption().default('ask'))
    .addOption(continuationOption())
    .addOption(
      new Option('--output <mode>', 'what stdout gets').choices(['text', 'json', 'jsonl', 'quiet']).default('text'),
    )
    .option('--json', 'the same as --output json')
    .option('--timeout <seconds>', 'interrupt after this long and exit with 3', toSeconds)
    .addHelpText('after', HELP)
    .action((adapter: string, argument: string | undefined, options: RunOptions) =>
      run(async (io) => (await import('../commands/run.js')).runOnce(io, adapter, withPrompt(options, argument))),
    )
}

function withPrompt(options: RunOptions, argument: string | undefined): RunOptions {
  const prompt = options.prompt ?? argument
  return {
    ...options,
    ...(prompt === undefined ? {} : { prompt }),
    output: options.json === true ? 'json' : options.output,
  }
}
