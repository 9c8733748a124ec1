import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { Clock } from '@agentproto/contracts'
import { piecesInSlices } from '../slice.js'

/** One call of git, without a shell. */
export interface GitCall {
  readonly args: readonly string[]
  /** Beside those of the {@link Git}. */
  readonly env?: Readonly<Record<string, string>>
  readonly input?: Iterable<Buffer> | AsyncIterable<Buffer>
  readonly signal: AbortSignal
  /** Exit codes that are not failures; absent for 0 alone. */
  readonly accept?: readonly number[]
}

export interface GitOptions {
  /** Absolute path of the program. */
  readonly file: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Arguments before those of every call. */
  readonly config: readonly string[]
  readonly clock: Clock
}

export interface GitOutput {
  readonly exitCode: number
  readonly stdout: Buffer
}

/** How long git may take to remove its temporary files after SIGTERM, in milliseconds. */
const TERM_GRACE_MS = 2_000
const STDERR_BYTES = 4 * 1024
/** The most output of a call that is collected as a whole. */
const COLLECTED_BYTES = 64 << 20

/** git with one configuration. */
export class Git {
  readonly #options: GitOptions

  constructor(options: GitOptions) {
    this.#options = options
  }

  /** The output as it comes; returns the exit code. An early return ends git. @throws {@link GitFailure} */
  async *stream(call: GitCall): AsyncGenerator<Buffer, number> {
    call.signal.throwIfAborted()
    const process = new GitProcess(this.#options, call)
    try {
      for await (const chunk of process.stdout) yield chunk as Buffer
      return await process.end()
    } finally {
      await process.dispose()
    }
  }

  /** @throws {@link GitFailure}, also when the output is over 64 MiB */
  async run(call: GitCall): Promise<GitOutput> {
    const chunks: Buffer[] = []
    let size = 0
    const output = this.stream(call)
    for (;;) {
      const { done, value } = await output.next()
      if (done === true) return { exitCode: value, stdout: Buffer.concat(chunks) }
      size += value.length
      if (size > COLLECTED_BYTES) {
        await output.return(0)
        throw new GitFailure(call.args, { stderr: 'The output is too long.' })
      }
      chunks.push(value)
    }
  }

  /** The output without its last newline. @throws {@link GitFailure} */
  async text(call: GitCall): Promise<string> {
    const { stdout } = await this.run(call)
    return stdout.toString('utf8').replace(/\n$/, '')
  }
}

interface Failed {
  readonly exitCode?: number | null
  readonly signal?: string | null
  readonly stderr: string
}

/** git ended with an exit code that means a failure. */
export class GitFailure extends Error {
  readonly exitCode: number | undefined
  readonly stderr: string

  constructor(args: readonly string[], { exitCode, signal, stderr }: Failed) {
    const end = signal ?? exitCode ?? 'an error'
    super(`git ${args.find((arg) => !arg.startsWith('-')) ?? ''} ended with ${end}: ${stderr.trim()}`)
    this.name = 'GitFailure'
    this.exitCode = exitCode ?? undefined
    this.stderr = stderr
  }
}

class GitProcess {
  readonly stdout: Readable
  readonly #child
  readonly #call: GitCall
  readonly #closed: Promise<unknown>
  readonly #clock: Clock
  readonly #abort = (): void => this.#kill()
  #startFailure: Error | undefined
  #stderr = ''
  #ended = false

  constructor({ file, cwd, env, config, clock }: GitOptions, call: GitCall) {
    this.#call = call
    this.#clock = clock
    this.#child = spawn(file, [...config, ...call.args], {
      // From a folder inside of the work tree, such as a home in it, git would see that folder alone.
      cwd: call.env?.['GIT_WORK_TREE'] ?? cwd,
      env: { ...env, ...call.env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    this.stdout = this.#child.stdout
    this.#child.once('error', (error) => (this.#startFailure = error))
    this.#child.stderr.on('data', (chunk: Buffer) => {
      if (this.#stderr.length < STDERR_BYTES) this.#stderr += chunk.toString('utf8')
    })
    this.#closed = new Promise((resolve) => this.#child.once('close', resolve))
    void this.#closed.then(() => (this.#ended = true))
    call.signal.addEventListener('abort', this.#abort, { once: true })
    this.#feed()
  }

  /** @returns the exit code, when it is accepted */
  async end(): Promise<number> {
    await this.#closed
    this.#call.signal.throwIfAborted()
    if (this.#startFailure !== undefined) throw this.#startFailure
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null && (this.#call.accept ?? [0]).includes(exitCode)) return exitCode
    throw new GitFailure(this.#call.args, { exitCode, signal: signalCode, stderr: this.#stderr.slice(0, STDERR_BYTES) })
  }

  /** Ends git if it still runs, and waits for it: its lock files are gone then. */
  async dispose(): Promise<void> {
    if (!this.#ended) this.#kill()
    this.stdout.destroy()
    await this.#closed
    this.#call.signal.removeEventListener('abort', this.#abort)
  }

  #feed(): void {
    const { stdin } = this.#child
    // git may end before it has read everything; its exit code reports that.
    stdin.on('error', () => undefined)
    if (this.#call.input === undefined) stdin.end()
    else
      Readable.from(piecesInSlices(this.#call.input), { highWaterMark: 1 })
        .on('error', () => this.#kill())
        .pipe(stdin)
  }

  #kill(): void {
    if (this.#child.pid === undefined) return
    this.#child.kill('SIGTERM')
    const timer = this.#clock.after(TERM_GRACE_MS, () => this.#child.kill('SIGKILL'))
    void once(this.#child, 'close').then(
      () => timer.cancel(),
      () => timer.cancel(),
    )
  }
}
