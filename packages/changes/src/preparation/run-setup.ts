import { resolve } from 'node:path'
import { AgentprotoError, type Clock, defined } from '@agentproto/contracts'
import type { ProcessExit, WorktreePreparation } from '@agentproto/contracts/agent'
import { commandFor, findExecutable, SESSION_MARKER, spawnAgentProcess } from '@agentproto/subprocess'

export interface SetupRun extends WorktreePreparation {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly ms: number
  readonly clock: Clock
}

/** Lines that are reported; the rest is counted. */
const MAX_LINES = 200
const MAX_CHARS = 500
const GRACES = { stdinGraceMs: 100, termGraceMs: 2_000 }

/**
 * Runs a program, never through a shell, and reports what it prints. Nothing that it started lives on.
 * @throws `worktree_setup_failed` after the time limit, `cancelled`, and of a program that cannot be started `spawn_failed`
 */
export async function runSetup(argv: readonly string[], run: SetupRun): Promise<ProcessExit> {
  const { cwd, ms, clock, signal, sessionId: marker } = run
  const env = { ...run.env, [SESSION_MARKER]: marker }
  const [program = '', ...args] = argv
  const lines = bounded(run.report)
  const file = await programAt(program, run)
  const { command, args: before } = commandFor(file)
  const child = await spawnAgentProcess(
    { command, args: [...before, ...args], cwd, env, marker },
    { graces: GRACES, clock, onLines: lines.take, onStderr: lines.take },
  )
  child.endInput()
  let late = false
  const end = (): void => void child.terminate().catch(() => undefined)
  const timer = clock.after(ms, () => {
    late = true
    end()
  })
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    const exit = await child.closed
    await child.terminate()
    lines.end()
    if (signal.aborted) throw new AgentprotoError('cancelled', 'The setup of the worktree was cancelled')
    if (late)
      throw new AgentprotoError('worktree_setup_failed', `The setup of the worktree took longer than ${ms / 1000} s`)
    return exit
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', end)
  }
}

/** A path is one in the worktree. */
async function programAt(program: string, { cwd, env }: SetupRun): Promise<string> {
  const name = program.includes('/') ? resolve(cwd, program) : program
  const found = await findExecutable(name, defined({ path: env['PATH'], home: env['HOME'] }))
  if (found !== undefined) return found
  throw new AgentprotoError('worktree_setup_failed', 'The program of the setup is not found', { given: program })
}

function bounded(report: (line: string) => void) {
  let count = 0
  return {
    take(lines: readonly string[]): void {
      for (const line of lines) {
        count += 1
        if (count <= MAX_LINES) report(line.slice(0, MAX_CHARS))
      }
    },
    end(): void {
      if (count > MAX_LINES) report(`${count - MAX_LINES} more lines are left out`)
    },
  }
}
