import { realpath } from 'node:fs/promises'
import { checkFolder } from '@agentproto/subprocess'

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
  checkFolder(path, what)
  return realpath(path)
}
