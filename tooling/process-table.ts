import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The processes of this host that carry a given mark, read from /proc (Linux; elsewhere there are none to see). */

export interface MarkedProcess {
  readonly pid: number
  readonly parent: number
  readonly commandLine: string
}

/** Processes with `mark` in their environment, their command line or their working directory. */
export function processesMarked(mark: string): readonly MarkedProcess[] {
  return processIds()
    .filter((pid) => carries(pid, mark))
    .map(describe)
    .filter((found) => found !== undefined)
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function carries(pid: number, mark: string): boolean {
  return (
    readOr(pid, 'environ').includes(mark) || readOr(pid, 'cmdline').includes(mark) || linkOr(pid, 'cwd').includes(mark)
  )
}

function describe(pid: number): MarkedProcess | undefined {
  // The name in brackets may itself hold spaces and brackets, so the fields are counted after the last one.
  const stat = readOr(pid, 'stat')
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie is gone; only its parent has not asked yet.
  if (state === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), commandLine: readOr(pid, 'cmdline').replaceAll('\0', ' ').trim() }
}

// A process may end between any two of these reads, and others belong to somebody else.
function readOr(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

function linkOr(pid: number, file: string): string {
  try {
    return readlinkSync(`/proc/${pid}/${file}`)
  } catch {
    return ''
  }
}
