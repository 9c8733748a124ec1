import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { AgentprotoError, type Clock } from '@agentproto/contracts'
import { commandFor, endProcesses, identify, LineSplitter } from '@agentproto/subprocess'
import type { TerminalProgram } from './provision-host.js'

/** One program that is run to its end: an installer, a check, a step of a setup. */
export interface Command extends TerminalProgram {
  /** Milliseconds, after which its whole tree is ended. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** Called with each line as it comes, without control characters. */
  readonly onLine?: (stream: 'stdout' | 'stderr', line: string) => void
}

export interface CommandEnd {
  readonly exitCode?: number
  readonly signal?: string
  readonly timedOut: boolean
  /** The first 256 KiB of each, without lines that are longer. */
  readonly stdout: string
  readonly stderr: string
}

const KEPT_CHARS = 256 * 1024
const LINE_CHARS = 4 * 1024
/** How long output may come after the end while a started daemon holds the pipe open, in milliseconds. */
const OUTPUT_GRACE_MS = 500

/**
 * Runs a program directly, never through a shell, with an empty stdin.
 * @throws `spawn_failed` when it cannot be started, `cancelled` once its tree is gone after an abort
 */
export async function runCommand(command: Command): Promise<CommandEnd> {
  if (command.signal.aborted) throw cancelled()
  const { command: program, args } = commandFor(command.file)
  const child = spawn(program, [...args, ...command.args], {
    cwd: command.cwd,
    env: command.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const stdout = new Output(child.stdout, (line) => command.onLine?.('stdout', line))
  const stderr = new Output(child.stderr, (line) => command.onLine?.('stderr', line))
  const ending = endOnDemand(child.pid, command)
  try {
    const exit = await new Promise<Pick<CommandEnd, 'exitCode' | 'signal'>>((resolve, reject) => {
      child.once('error', (cause) => reject(notStarted(command.file, cause)))
      child.once('exit', (code, signal) =>
        resolve({ ...(code === null ? {} : { exitCode: code }), ...(signal === null ? {} : { signal }) }),
      )
    })
    await Promise.all([stdout.drained(), stderr.drained()])
    const timedOut = await ending.settled()
    if (command.signal.aborted) throw cancelled()
    return { ...exit, timedOut, stdout: stdout.text, stderr: stderr.text }
  } finally {
    ending.forget()
  }
}

/** Runs a program in the caller's own terminal. @returns its exit code, 128 for one that a signal ended */
export function runInTerminal(command: TerminalProgram): Promise<number> {
  const { command: program, args } = commandFor(command.file)
  // Ctrl-C reaches the whole foreground group: it must not end this process before the program.
  const ignore = (): void => undefined
  process.on('SIGINT', ignore)
  return new Promise<number>((resolve, reject) => {
    const child = spawn(program, [...args, ...command.args], {
      cwd: command.cwd,
      env: command.env,
      stdio: 'inherit',
      signal: command.signal,
    })
    child.once('error', (cause) => reject(command.signal.aborted ? cancelled() : notStarted(command.file, cause)))
    child.once('exit', (code) => resolve(code ?? 128))
  }).finally(() => process.off('SIGINT', ignore))
}

interface Ending {
  /** Whether it reached its time limit, once nothing of its tree runs. */
  settled(): Promise<boolean>
  forget(): void
}

/** Ends the program's process tree at its time limit or when the caller aborts. */
function endOnDemand(pid: number | undefined, { timeoutMs, signal, clock }: Command): Ending {
  const info = pid === undefined ? undefined : identify(pid)
  let timedOut = false
  let ended: Promise<void> | undefined
  const end = (): void => {
    if (info !== undefined) ended ??= endProcesses([info], { termGraceMs: 2_000 }, clock).catch(() => undefined)
  }
  const timer = clock.after(timeoutMs, () => {
    timedOut = true
    end()
  })
  signal.addEventListener('abort', end, { once: true })
  return {
    async settled() {
      timer.cancel()
      await ended
      return timedOut
    },
    forget() {
      timer.cancel()
      signal.removeEventListener('abort', end)
    },
  }
}

/** The output of a program: its beginning as text, and each line once. */
class Output {
  text = ''
  readonly #stream: Readable
  readonly #onLine: (line: string) => void
  readonly #lines = new LineSplitter(KEPT_CHARS, () => undefined)
  readonly #closed: Promise<void>

  constructor(stream: Readable, onLine: (line: string) => void) {
    this.#stream = stream
    this.#onLine = onLine
    stream.on('data', (chunk: Buffer) => this.#take(this.#lines.push(chunk)))
    stream.on('error', () => undefined)
    this.#closed = new Promise((resolve) => stream.once('close', resolve))
  }

  async drained(): Promise<void> {
    const timer = setTimeout(() => this.#stream.destroy(), OUTPUT_GRACE_MS)
    await this.#closed
    clearTimeout(timer)
    this.#take(this.#lines.end())
  }

  #take(lines: readonly string[]): void {
    for (const line of lines) {
      if (this.text.length < KEPT_CHARS) this.text = `${this.text}${line}\n`.slice(0, KEPT_CHARS)
      this.#say(line)
    }
  }

  /** A progress bar overwrites its line: only the last text counts. */
  #say(line: string): void {
    const last = line.replace(/\r+$/, '').split('\r').at(-1) ?? ''
    const plain = stripVTControlCharacters(last).replaceAll(CONTROL, '').trimEnd().slice(0, LINE_CHARS)
    if (plain !== '') this.#onLine(plain)
  }
}

/** Every control character but the tab. */
const CONTROL = /[\u0000-\u0008\u000A-\u001F\u007F-\u009F]/g

const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', 'The command was cancelled')

const notStarted = (file: string, cause: Error): AgentprotoError =>
  new AgentprotoError('spawn_failed', `${file} could not be started: ${cause.message}`, { cause })
