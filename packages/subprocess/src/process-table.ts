import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { AgentProcessInfo } from '@agentproto/contracts/agent'

/** Environment variable that identifies the processes of a session. */
export const SESSION_MARKER = 'AGENTPROTO_SESSION_ID'

/** A running process. */
export interface ProcessRow extends AgentProcessInfo {
  readonly ppid: number
  readonly pgid: number
}

/** The processes of a host. Zombies are not listed. */
export interface ProcessTable {
  all(): Map<number, ProcessRow>
  one(pid: number): ProcessRow | undefined
  /** Value of {@link SESSION_MARKER} in the environment that the process was executed with. */
  marker(pid: number): string | undefined
}

const MARKER_KEY = Buffer.from(`${SESSION_MARKER}=`)

/**
 * `/proc`. Read synchronously: a few hundred small reads cost 5 ms in one go and several times that
 * through the thread pool, and it happens only around the end of a process.
 */
const procfsTable: ProcessTable = {
  all() {
    const rows = new Map<number, ProcessRow>()
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      const row = Number.isInteger(pid) ? procfsTable.one(pid) : undefined
      if (row) rows.set(pid, row)
    }
    return rows
  },
  one(pid) {
    const stat = readProc(pid, 'stat')
    return stat && parseStat(pid, stat.toString('latin1'))
  },
  marker(pid) {
    const environ = readProc(pid, 'environ')
    return environ && markerIn(environ)
  },
}

/** `ps`, for macOS and the BSDs. It shows no environments, so descendants are found by parent and group only. */
export const psTable: ProcessTable = {
  all: () => parsePs(ps(['-A'])),
  one: (pid) => parsePs(ps(['-p', String(pid)])).get(pid),
  marker: () => undefined,
}

/** The table of this host. */
export const processTable: ProcessTable = existsSync('/proc/self/stat') ? procfsTable : psTable

/** How long one snapshot of the whole host is shared by all trees that only record, in milliseconds. */
const RECENT_MS = 1_000
let recent: { readonly at: number; readonly rows: Map<number, ProcessRow> } | undefined

/** The processes of this host, at most a second old. */
export function recentProcesses(): Map<number, ProcessRow> {
  const at = performance.now()
  if (!recent || at - recent.at > RECENT_MS) recent = { at, rows: processTable.all() }
  return recent.rows
}

/** Pid and start time of a living process. */
export function identify(pid: number, table = processTable): AgentProcessInfo | undefined {
  const row = table.one(pid)
  return row && { pid: row.pid, startTime: row.startTime }
}

/** The environment that a process was executed with; undefined where the platform does not show it. */
export function environmentOf({ pid, startTime }: AgentProcessInfo): Readonly<Record<string, string>> | undefined {
  const text = existsSync('/proc/self/stat') ? readProc(pid, 'environ')?.toString('utf8') : undefined
  // After the reading: the pid may have become that of another process.
  if (text === undefined || identify(pid)?.startTime !== startTime) return undefined
  const pairs = text.split('\0').flatMap((pair) => {
    const at = pair.indexOf('=')
    return at > 0 ? [[pair.slice(0, at), pair.slice(at + 1)] as const] : []
  })
  return Object.fromEntries(pairs)
}

/** Parses `/proc/PID/stat`; the command in parentheses may itself hold spaces and parentheses. */
export function parseStat(pid: number, stat: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, pgid] = fields
  const ticks = fields[19]
  if (ticks === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, ppid: Number(ppid), pgid: Number(pgid), startTime: BOOT + ticks }
}

/** Parses `ps -o pid=,ppid=,pgid=,stat=,lstart=`. */
export function parsePs(text: string): Map<number, ProcessRow> {
  const rows = new Map<number, ProcessRow>()
  for (const line of text.split('\n')) {
    const [pid, ppid, pgid, state, ...started] = line.trim().split(/\s+/)
    if (started.length < 5 || !state || state.startsWith('Z')) continue
    rows.set(Number(pid), {
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      startTime: started.join(' '),
    })
  }
  return rows
}

/** The value of the marker in a NUL-separated environment. */
export function markerIn(environ: Buffer): string | undefined {
  let at = environ.indexOf(MARKER_KEY)
  // A variable whose name only ends with the marker's name does not count.
  while (at > 0 && environ[at - 1] !== 0) at = environ.indexOf(MARKER_KEY, at + 1)
  if (at < 0) return undefined
  const end = environ.indexOf(0, at)
  return environ.toString('utf8', at + MARKER_KEY.length, end < 0 ? environ.length : end)
}

// Start times count from the boot, so after a reboot the same pair could name another process.
const BOOT = bootId()

function bootId(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)}:`
  } catch {
    return ''
  }
}

export function readProc(pid: number, file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`)
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return undefined
  }
}

function ps(select: readonly string[]): string {
  try {
    return execFileSync('ps', [...select, '-o', 'pid=,ppid=,pgid=,stat=,lstart='], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      maxBuffer: 16 << 20,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    // `ps -p` exits 1 when there is no such process.
    return ''
  }
}
