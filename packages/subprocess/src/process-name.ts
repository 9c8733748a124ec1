import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import type { AgentProcessInfo } from '@agentproto/contracts/agent'
import { identify, readProc } from './process-table.js'

/**
 * The name of a running process for people: its program, and the script that an interpreter runs. Never further arguments,
 * which may hold a secret. The process chose these words itself.
 */
export function processName({ pid, startTime }: AgentProcessInfo): string | undefined {
  const words = existsSync('/proc/self/stat') ? wordsOf(pid) : shownByPs(pid)
  // After the reading: the pid may have become that of another process.
  if (identify(pid)?.startTime !== startTime) return undefined
  const [program, script = ''] = words
  if (program === undefined || program === '') return undefined
  const name = basename(program)
  return INTERPRETER.test(name) && !script.startsWith('-') ? `${name} ${basename(script)}`.trim() : name
}

const INTERPRETER = /^(?:node|bun|deno|python[\d.]*|ruby|perl|sh|bash|zsh|dash)$/

const wordsOf = (pid: number): readonly string[] => (readProc(pid, 'cmdline')?.toString('utf8') ?? '').split('\0')

/** Without arguments: `ps` does not say where one ends. */
function shownByPs(pid: number): readonly string[] {
  try {
    const args = ['-p', String(pid), '-o', 'comm=']
    return [execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()]
  } catch {
    return []
  }
}
