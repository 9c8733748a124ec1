import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import type { CliContext } from '../cli-context.js'

/**
 * The instructions of a session: as given, or the content of the file that `@file` names.
 * @throws `path_invalid` for a file that cannot be read
 */
export async function readInstructions(
  { cwd }: Pick<CliContext, 'cwd'>,
  given: string | undefined,
): Promise<string | undefined> {
  if (given?.startsWith('@') !== true) return given
  const path = resolve(cwd, given.slice(1))
  try {
    return (await readFile(path, 'utf8')).trimEnd()
  } catch (cause) {
    throw new AgentprotoError('path_invalid', 'The file of instructions cannot be read', { given: path, cause })
  }
}
