import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { checkFolder } from '@agentproto/subprocess'

export interface WorkingDirectories {
  /** Without symbolic links. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
}

/** As {@link checkedDirectories}, for a caller who has not resolved them. @throws `cwd_invalid` */
export async function resolveDirectories(given: WorkingDirectories): Promise<WorkingDirectories> {
  const all = [given.cwd, ...given.additionalDirectories]
  const [cwd = given.cwd, ...additionalDirectories] = await Promise.all(all.map(resolved))
  return checkedDirectories({ cwd, additionalDirectories })
}

/**
 * Checks where an agent is to work: absolute, existing, and real, since it was decided by these paths whether it
 * may; further folders once each, and not the first one again.
 * @throws `cwd_invalid`
 */
export function checkedDirectories({ cwd, additionalDirectories }: WorkingDirectories): WorkingDirectories {
  checkFolder(cwd, 'working directory')
  const others = [...new Set(additionalDirectories)].filter((path) => path !== cwd)
  for (const path of others) checkFolder(path, 'additional directory')
  return { cwd, additionalDirectories: others }
}

/** The check says why a path cannot be resolved. */
const resolved = async (path: string): Promise<string> => (isAbsolute(path) ? realpath(path).catch(() => path) : path)
