import { stat } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'

/** @throws `cwd_invalid` when an agent cannot be started in the folder */
export async function checkFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return
  throw new AgentprotoError('cwd_invalid', 'The working directory does not exist or is not a directory', {
    expected: 'the absolute path of an existing directory',
    given: path,
  })
}
