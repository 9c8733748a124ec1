import { readdirSync, readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'

/**
 * A variable that every process of one test inherits, whatever becomes of its parents. The host would drop
 * one that is called `AGENTPROTO_…`.
 */
const VARIABLE = 'E2E_MARK'

export interface Mark {
  readonly env: Readonly<Record<string, string>>
  /** Command lines of the living processes that bear the mark, as the kernel tells them now. */
  living(): readonly string[]
}

/** A mark that nothing else bears. Linux only: it reads /proc. */
export function newMark(): Mark {
  const value = randomUUID()
  const entry = `${VARIABLE}=${value}`
  return {
    env: { [VARIABLE]: value },
    living: () =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
        .filter((pid) => read(pid, 'environ').split('\0').includes(entry))
        .map((pid) => `${pid} ${read(pid, 'cmdline').replaceAll('\0', ' ')}`),
  }
}

/** A process that has ended, reaped or not, has nothing to read. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
