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
export const markedPids = (markers: ReadonlySet<string>): readonly number[] => pidsWith((marker) => markers.has(marker))

/** Also of those whose marker is below one of them: of a command that a gateway runs for an agent it is `<marker>/…`. */
export const pidsBelow = (markers: ReadonlySet<string>): readonly number[] =>
  pidsWith((marker) => markers.has(marker) || markers.has(marker.split('/', 1)[0] || marker))

function pidsWith(isWanted: (marker: string) => boolean): readonly number[] {
  if (!isLinux) return []
  const isMarked = (pid: string): boolean => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      const markers = environment.split('\0').filter((variable) => variable.startsWith(VARIABLE))
      return markers
        .map((variable) => variable.slice(VARIABLE.length))
        .some((marker) => marker !== '' && isWanted(marker))
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMarked(name))
    .map(Number)
}
