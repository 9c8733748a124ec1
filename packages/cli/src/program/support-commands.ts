import type { Command } from 'commander'
import type { SupportBundleOptions } from '../commands/support-bundle.js'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'

const DOCTOR_HELP = `
Examples:
  $ agentproto doctor
  $ agentproto doctor --json

It changes nothing. One agent is examined by: agentproto adapters doctor <slug>`

const BUNDLE_HELP = `
Examples:
  $ agentproto support-bundle
  $ agentproto support-bundle --output /tmp/for-support.tar.gz

Versions, the doctor's findings, settings, how sessions are, the end of the gateway's log and crash bundles: no prompt,
no answer, no secret. A crash bundle quotes what the agent wrote to stderr.`

/** What helps when something is wrong. */
export function addSupportCommands(program: Command, run: Run): void {
  program
    .command('doctor')
    .description('examine this machine, the home, the gateway and the agents')
    .option('--json', 'as JSON')
    .addHelpText('after', DOCTOR_HELP)
    .action((options: JsonOption) => run(async (io) => (await import('../commands/doctor.js')).doctor(io, options)))
  program
    .command('support-bundle')
    .description('write one file for whoever helps you, without secrets, and print its path')
    .option('--output <file>', 'where to write it (default: in this folder)')
    .option('--json', 'as JSON')
    .addHelpText('after', BUNDLE_HELP)
    .action((options: SupportBundleOptions) =>
      run(async (io) => (await import('../commands/support-bundle.js')).makeSupportBundle(io, options)),
    )
}
