import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { AgentprotoError, type ErrorCode, type ErrorParts } from '@agentproto/contracts'

/** What a message calls the folder, the error code when it is refused, and what else the error says. */
export interface FolderRole extends Pick<ErrorParts, 'hint' | 'data'> {
  readonly what: string
  readonly code: ErrorCode
}

/**
 * The real path of an absolute path, which must be an accessible folder.
 * @throws the role's code: not absolute, missing, not a folder, not accessible
 */
export async function realFolder(path: string, { what, code, ...parts }: FolderRole): Promise<string> {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new AgentprotoError(code, `${what} ${problem}.`, {
      expected: 'the absolute path of an existing folder',
      given: path,
      ...parts,
      ...(cause === undefined ? {} : { cause }),
    })
  }
  if (path.includes('\0')) return refuse('contains the character NUL')
  if (!isAbsolute(path)) return refuse('is not absolute')
  try {
    const real = await realpath(path)
    if (!(await stat(real)).isDirectory()) return refuse('is not a folder')
    await access(real, constants.R_OK | constants.X_OK)
    return real
  } catch (thrown) {
    const problem = thrown instanceof Error && 'code' in thrown ? FAILURES[String(thrown.code)] : undefined
    if (problem === undefined) throw thrown
    return refuse(problem, thrown)
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'is not accessible to you',
  EPERM: 'is not accessible to you',
  ELOOP: 'is a cycle of links',
  ENAMETOOLONG: 'is too long',
}

/** The real path, or none where the folder cannot be used. */
export const realFolderIfAny = (path: string): Promise<string | undefined> =>
  realFolder(path, { what: 'The folder', code: 'path_invalid' }).catch(() => undefined)

/** Whether a real path is a folder or below it. */
export function isWithin(path: string, folder: string): boolean {
  const step = relative(folder, path)
  return step === '' || (step !== '..' && !step.startsWith(`..${sep}`) && !isAbsolute(step))
}
