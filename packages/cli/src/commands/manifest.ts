import { EXIT } from '@agentproto/contracts'
import { checkManifestFiles, type CheckedFile } from '@agentproto/manifest/node'
import { paintOf, print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../program/workspace-commands.js'
import type { Paint } from '../render/paint.js'
import { renderProblem } from '../render/manifest-problem.js'

/** `agentproto manifest validate`: exit code 1 when a file has an error; warnings alone pass. */
export async function validateManifests(io: Io, paths: readonly string[], { json }: JsonOption): Promise<number> {
  const files = await checkManifestFiles(paths)
  const ok = files.every((file) => file.ok)
  if (json === true) printJson(io, { ok, files })
  else print(io.stdout, report(files, paintOf(io, io.stdout)))
  return ok ? EXIT.ok : EXIT.failed
}

function report(files: readonly CheckedFile[], paint: Paint): string[] {
  return files.flatMap(({ path, ok, problems }) => [
    ...problems.flatMap((problem) => renderProblem(problem, paint)),
    ok ? `${paint.green('✓')} ${path}` : `${paint.red('✗')} ${path}: ${count(problems)}`,
  ])
}

function count(problems: CheckedFile['problems']): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return errors === 1 ? '1 error' : `${errors} errors`
}
