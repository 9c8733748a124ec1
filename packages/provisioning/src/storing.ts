import { AgentprotoError } from '@agentproto/contracts'

/**
 * Runs work that writes into the home.
 * @throws `storage_failed` where the disk refuses a write, and what the work throws
 */
export async function storing<T>(home: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
    if (!(thrown instanceof Error) || !REFUSALS.has(code)) throw thrown
    throw new AgentprotoError('storage_failed', `The agent cannot be stored: ${thrown.message}`, {
      given: home,
      hint: 'Make room there, or set AGENTPROTO_HOME to another folder; nothing was changed',
      cause: thrown,
    })
  }
}

/** Of a disk that is full, over its quota, read-only or broken, and of a limit on the size of files. */
const REFUSALS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EFBIG'])
