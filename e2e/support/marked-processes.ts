import { readdirSync, readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'

/**
 * A variable that every process of one test inherits, even when its parent has ended. The host would drop
 * a variable named `AGENTPROTO_…`.
 */
const VARIABLE = 'E2E_MARK'

export interface Mark {
  readonly env: Readonly<Record<string, string>>
  /** Command lines of the live processes with the mark. */
  living(): readonly string[]
}

/** A unique mark. Linux only: it reads /proc. */
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

/** A process that has ended, reaped or not, has no environment to read. */
function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
