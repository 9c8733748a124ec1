import { spawn } from 'node:child_process'
import type { Clock } from '@agentproto/contracts'
import { buildEnvironment, commandFor, endProcesses, findExecutable, identify } from '@agentproto/subprocess'

/** How long the program may run, in milliseconds. */
const RUN_MS = 10_000
const STDERR_CHARS = 300

export interface DesktopCommand {
  /** A program, by its name or absolute path, and its arguments. */
  readonly argv: readonly string[]
  /** The gateway's environment. The program gets it without what looks like a credential. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** What one run gets. */
export interface DesktopInput {
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
}

/**
 * Runs the owner's program, without a shell: no text of a notification is ever part of its arguments.
 * @returns why it failed; undefined when it did not. Never rejects
 */
export async function runDesktopCommand(
  { argv, env: parent, clock }: DesktopCommand,
  { env: injected, stdin }: DesktopInput,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [name = '', ...rest] = argv
  const file = await findExecutable(name, {
    path: parent['PATH'] ?? '',
    ...(parent['HOME'] && { home: parent['HOME'] }),
  })
  if (file === undefined) return `${name} is not found, or not executable`
  if (signal.aborted) return 'the gateway ends'
  try {
    const { command, args } = commandFor(file)
    const env = buildEnvironment({ policy: 'filtered', parent, injected })
    return await run({ command, args: [...args, ...rest], env, stdin, clock, signal })
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

interface Run extends Omit<DesktopInput, 'env'> {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Record<string, string>
  readonly clock: Clock
  readonly signal: AbortSignal
}

async function run({ command, args, env, stdin, clock, signal }: Run): Promise<string | undefined> {
  const child = spawn(command, args, {
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const info = child.pid === undefined ? undefined : identify(child.pid)
  let ended: Promise<unknown> | undefined
  let cause: string | undefined
  const end = (why: string): void => {
    cause ??= why
    if (info !== undefined) ended ??= endProcesses([info], { termGraceMs: 1_000 }, clock).catch(() => undefined)
  }
  const onAbort = (): void => end('the gateway ends')
  const timer = clock.after(RUN_MS, () => end(`it ran for more than ${RUN_MS / 1_000} s`))
  signal.addEventListener('abort', onAbort, { once: true })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(0, STDERR_CHARS)))
  // A program that does not read its input closes it.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  const exited = new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    // Not `close`: what the program left in the background may hold its stderr open.
    child.once('exit', (code, by) => {
      const how = code === null ? String(by) : `exit code ${code}`
      resolve(cause ?? (code === 0 ? undefined : `it ended with ${how}: ${stderr.trim()}`))
    })
  })
  try {
    return await exited
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', onAbort)
    child.stderr.destroy()
    await ended
  }
}
