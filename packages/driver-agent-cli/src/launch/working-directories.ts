import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'

export interface WorkingDirectories {
  /** Without symbolic links. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
}

/**
 * Checks where an agent is to work (DESIGN §4): absolute, existing, resolved; further folders once each,
 * and not the first one again.
 * @throws `cwd_invalid`
 */
export async function resolveDirectories({
  cwd,
  additionalDirectories,
}: WorkingDirectories): Promise<WorkingDirectories> {
  const primary = await folder(cwd, 'working directory')
  const others = await Promise.all(additionalDirectories.map((path) => folder(path, 'additional directory')))
  return { cwd: primary, additionalDirectories: [...new Set(others)].filter((path) => path !== primary) }
}

async function folder(path: string, what: string): Promise<string> {
  if (path.includes('\0')) throw invalid(`The ${what} holds a NUL character`, path)
  if (!isAbsolute(path)) throw invalid(`The ${what} is not absolute`, path)
  try {
    const resolved = await realpath(path)
    if ((await stat(resolved)).isDirectory()) return resolved
  } catch (cause) {
    throw invalid(`The ${what} does not exist`, path, cause)
  }
  throw invalid(`The ${what} is not a directory`, path)
}

const invalid = (what: string, given: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('cwd_invalid', what, { expected: 'an absolute path of an existing directory', given, cause })
