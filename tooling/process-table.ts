import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Finds the processes of this host that carry a given mark, in /proc. Without /proc it finds none. */

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

export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended since the last look.
  }
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
  // The name in parentheses may contain spaces and parentheses: count the fields after the last one.
  const stat = readOr(pid, 'stat')
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie has ended; its parent has only not waited for it yet.
  if (state === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), commandLine: readOr(pid, 'cmdline').replaceAll('\0', ' ').trim() }
}

// A process may end between two of these reads, and some belong to other users.
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
