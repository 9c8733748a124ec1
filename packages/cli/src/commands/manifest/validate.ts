import { EXIT } from '@agentproto/contracts'
import { MANIFEST_NAMES, type ManifestName, type ManifestProblem } from '@agentproto/manifest'
import type { CheckedFile } from '@agentproto/manifest/node'
import { Option } from 'commander'
import type { CommandResult, Define } from '../../cli-command.js'
import { paintFor, type CliContext } from '../../cli-context.js'
import { readInput } from '../../read-input.js'
import { githubAnnotation, renderProblem } from '../../render/manifest-problem.js'
import type { Paint } from '../../render/paint.js'

const HELP = `
Examples:
  $ agentproto manifest validate adapters/shop/AGENT-CLI.md
  $ agentproto manifest validate . --format github
  $ cat ACP.md | agentproto manifest validate - --as ACP.md

The exit code is 1 when a file has an error. Warnings pass.`

export const define: Define = (command) =>
  command
    .description('check manifests; each problem is reported with line, column and suggestion')
    .argument('<path...>', 'manifest files, and folders to search; - reads one from stdin')
    .addOption(
      new Option('--as <name>', 'what the manifest on stdin is').choices(MANIFEST_NAMES).default('AGENT-CLI.md'),
    )
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json', 'github']).default('text'))
    .json('the same as --format json')
    .addHelpText('after', HELP)
    .run(validate)

interface ValidateOptions {
  readonly as: ManifestName
  readonly format: 'text' | 'json' | 'github'
}

async function validate(
  context: CliContext,
  paths: readonly string[],
  { as, format }: ValidateOptions,
): Promise<CommandResult> {
  const files = await check(context, paths, as)
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

/** As large as a file may be. */
const INPUT_BYTES_MAX = 4 * 1024 * 1024

/** What the manifest on stdin refers to is relative to the working directory. */
async function check(
  context: CliContext,
  paths: readonly string[],
  kind: ManifestName,
): Promise<readonly CheckedFile[]> {
  const { checkManifestFiles, checkManifestText } = await import('@agentproto/manifest/node')
  if (!paths.includes('-')) return checkManifestFiles(paths)
  const files = await checkManifestFiles(paths.filter((path) => path !== '-'))
  const text = await readInput(context.stdin, INPUT_BYTES_MAX)
  return [...files, checkManifestText(text, { kind, path: '<stdin>' })]
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
