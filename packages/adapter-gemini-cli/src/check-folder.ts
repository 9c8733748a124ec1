import { stat } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'

/** @throws `cwd_invalid` when an agent could not be started there */
export async function checkFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return
  throw new AgentprotoError('cwd_invalid', 'The working directory does not exist or is no directory', {
    expected: 'an absolute path of an existing directory',
    given: path,
  })
}
