import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const VARIABLE = 'AGENTPROTO_SESSION_ID='
const isLinux = process.platform === 'linux'

/** The start time of a process in the words of `identify` of `subprocess`; empty where it has ended. */
export function startTimeOf(pid: number): string {
  try {
    return isLinux ? linuxStart(pid) : psStart(pid)
  } catch {
    return ''
  }
}

/** Start times count from the boot. The command in parentheses may itself hold spaces and parentheses. */
function linuxStart(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const [state = 'Z', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
  return 'ZX'.includes(state) ? '' : `${boot}:${fields[18]}`
}

const psStart = (pid: number): string =>
  execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
  })
    .trim()
    .replaceAll(/\s+/g, ' ')

/** Pids of the processes that were started with one of the markers in their environment. Only Linux shows it. */
export function markedPids(markers: ReadonlySet<string>): readonly number[] {
  if (!isLinux) return []
  const known = new Set([...markers].filter((marker) => marker !== '').map((marker) => `${VARIABLE}${marker}`))
  if (known.size === 0) return []
  const isMarked = (pid: string): boolean => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      return environment.split('\0').some((variable) => variable.startsWith(VARIABLE) && known.has(variable))
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMarked(name))
    .map(Number)
}
