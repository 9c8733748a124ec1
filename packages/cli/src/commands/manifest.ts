import { EXIT } from '@agentproto/contracts'
import type { ManifestProblem } from '@agentproto/manifest'
import { checkManifestFiles, type CheckedFile } from '@agentproto/manifest/node'
import { paintOf, print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { githubAnnotation } from '../render/github-annotation.js'
import { renderProblem } from '../render/manifest-problem.js'
import type { Paint } from '../render/paint.js'

export interface ValidateOptions extends JsonOption {
  readonly format: 'text' | 'json' | 'github'
}

/** `agentproto manifest validate`: exit code 1 when a file has an error; warnings alone pass. */
export async function validateManifests(io: Io, paths: readonly string[], options: ValidateOptions): Promise<number> {
  const files = await checkManifestFiles(paths)
  const ok = files.every((file) => file.ok)
  const format = options.json === true ? 'json' : options.format
  if (format === 'json') printJson(io, { ok, files })
  else print(io.stdout, format === 'github' ? annotations(files) : report(files, paintOf(io, io.stdout)))
  return ok ? EXIT.ok : EXIT.failed
}

function report(files: readonly CheckedFile[], paint: Paint): string[] {
  const isNew = once()
  return files.flatMap(({ path, ok, problems }) => [
    ...problems.filter(isNew).flatMap((problem) => renderProblem(problem, paint)),
    ok ? `${paint.green('✓')} ${path}` : `${paint.red('✗')} ${path}: ${count(problems)}`,
  ])
}

function annotations(files: readonly CheckedFile[]): string[] {
  return files
    .flatMap(({ problems }) => problems)
    .filter(once())
    .map(githubAnnotation)
}

/** What is wrong with a file that several manifests refer to is told once. */
function once(): (problem: ManifestProblem) => boolean {
  const told = new Set<ManifestProblem>()
  return (problem) => told.size < told.add(problem).size
}

function count(problems: CheckedFile['problems']): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return errors === 1 ? '1 error' : `${errors} errors`
}
