import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import type { Io } from '../io.js'

/**
 * The instructions of a session: as given, or what is in the file that `@file` names.
 * @throws `path_invalid` for a file that cannot be read
 */
export async function instructionsOf(
  io: Pick<Io, 'cwd'>,
  given: string | undefined,
): Promise<{ readonly instructions?: string }> {
  if (given === undefined) return {}
  if (!given.startsWith('@')) return { instructions: given }
  const path = resolve(io.cwd, given.slice(1))
  try {
    return { instructions: (await readFile(path, 'utf8')).trimEnd() }
  } catch (cause) {
    throw new AgentprotoError('path_invalid', 'The instructions cannot be read', { given: path, cause })
  }
}
