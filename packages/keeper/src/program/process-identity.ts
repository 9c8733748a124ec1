import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

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

/** Pids of the processes that were started with the marker in their environment. Only Linux shows it. */
export function markedPids(marker: string): readonly number[] {
  if (!isLinux || marker === '') return []
  const isMarked = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`AGENTPROTO_SESSION_ID=${marker}`)
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMarked(name))
    .map(Number)
}
