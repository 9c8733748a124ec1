import { resolve } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import type { CommandResult, Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { withProgress } from '../progress.js'

const HELP = `
Examples:
  $ agentproto support-bundle
  $ agentproto support-bundle --output /tmp/for-support.tar.gz

It contains versions, the results of doctor, settings, the state of the sessions, the end of the gateway's log and crash
bundles. It contains no prompt, no answer and no secret. A crash bundle quotes what the agent wrote to stderr.`

export const define: Define = (command) =>
  command
    .description('write a file for support, without secrets, and print its path')
    .option('--output <file>', 'where to write it (default: in this folder)')
    .json()
    .addHelpText('after', HELP)
    .run(makeBundle)

async function makeBundle(context: CliContext, { output }: { readonly output?: string }): Promise<CommandResult> {
  const { bundleFiles, writeBundle } = await import('../support/support-bundle.js')
  const now = new Date()
  const stamp = now.toISOString().slice(0, 19).replace(/[:T]/g, '-')
  const path = resolve(context.cwd, output ?? `agentproto-support-${stamp}.tar.gz`)
  const files = await withProgress(context, 'Collecting', () => bundleFiles(context))
  await writeBundle(path, files, now).catch((cause: Error) => {
    throw new AgentprotoError('path_invalid', `${path} cannot be written`, {
      given: cause.message,
      hint: 'Choose another file with --output',
      cause,
    })
  })
  return {
    json: { path, files: files.map(({ name }) => name) },
    text: path,
    note: `Secrets are redacted. Review it before you send it: tar -xzf ${path}`,
  }
}
