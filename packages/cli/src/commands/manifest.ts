import { EXIT } from '@agentproto/contracts'
import type { ManifestProblem } from '@agentproto/manifest'
import type { CheckedFile } from '@agentproto/manifest/node'
import { Option } from 'commander'
import type { CliCommand, CommandResult } from '../cli-command.js'
import { paintFor, type CliContext } from '../cli-context.js'
import { githubAnnotation, renderProblem } from '../render/manifest-problem.js'
import type { Paint } from '../render/paint.js'

const VALIDATE_HELP = `
Examples:
  $ agentproto manifest validate adapters/shop/AGENT-CLI.md
  $ agentproto manifest validate . --format github

The exit code is 1 when a file has an error. Warnings pass.`

export function define(manifest: CliCommand): void {
  manifest.description('work on AIP-45 manifests').examples('manifest validate my-agent/AGENT-CLI.md')
  manifest
    .subcommand('validate', 'check manifests; each problem is reported with line, column and suggestion')
    .argument('<path...>', 'manifest files, and folders to search')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json', 'github']).default('text'))
    .json('the same as --format json')
    .addHelpText('after', VALIDATE_HELP)
    .run(validate)
}

async function validate(
  context: CliContext,
  paths: readonly string[],
  { format }: { readonly format: 'text' | 'json' | 'github' },
): Promise<CommandResult> {
  const { checkManifestFiles } = await import('@agentproto/manifest/node')
  const files = await checkManifestFiles(paths)
  const ok = files.every((file) => file.ok)
  const json = { ok, files }
  const exit = ok ? EXIT.ok : EXIT.failed
  if (format === 'json') return { json, text: JSON.stringify(json, undefined, 2), exit }
  return {
    json,
    text: format === 'github' ? annotations(files) : report(files, paintFor(context, context.stdout)),
    exit,
  }
}

/** A problem in a file that several manifests refer to is reported once. */
function report(files: readonly CheckedFile[], paint: Paint): string[] {
  const seen = new Set<ManifestProblem>()
  return files.flatMap(({ path, ok, problems }) => [
    ...problems
      .filter((problem) => seen.size < seen.add(problem).size)
      .flatMap((problem) => renderProblem(problem, paint)),
    ok ? `${paint.green('✓')} ${path}` : `${paint.red('✗')} ${path}: ${errorCount(problems)}`,
  ])
}

const annotations = (files: readonly CheckedFile[]): string[] =>
  [...new Set(files.flatMap(({ problems }) => problems))].map(githubAnnotation)

function errorCount(problems: CheckedFile['problems']): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return errors === 1 ? '1 error' : `${errors} errors`
}
