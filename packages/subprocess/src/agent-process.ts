import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { AgentprotoError, type Clock, systemClock, type Timer } from '@agentproto/contracts'
import type { AgentProcessInfo, Launch, ProcessExit } from '@agentproto/contracts/agent'
import { ChildPipes } from './child-pipes.js'
import { inHeldFolder } from './held-folder.js'
import { endWithHost } from './host-exit.js'
import { LineSplitter, MAX_LINE_BYTES, OutputPump } from './output.js'
import type { TakeLines } from './output.js'
import { identify, recentProcesses } from './process-table.js'
import type { ProcessPipes } from './process-pipes.js'
import { ProcessTree } from './process-tree.js'
import { checkLaunch, spawnFailure } from './spawn-failure.js'
import { StderrTail } from './stderr-tail.js'
import { endTree } from './termination.js'
import type { EndingWatch, Graces } from './termination.js'

/** How soon after output of an agent its descendants are recorded, in milliseconds. */
const RECORD_AFTER_MS = 2_000
/** How long output may come after the end while a descendant holds the pipe open, in milliseconds. */
const OUTPUT_GRACE_MS = 500

export interface SpawnOptions {
  readonly graces: Graces
  readonly clock?: Clock
  /** Lines of one read of stdout, without their newlines. A returned promise pauses reading. */
  readonly onLines: TakeLines
  /** Whole lines of stderr. A returned promise pauses reading. */
  readonly onStderr?: TakeLines
  /** A line of stdout was longer than `maxLineBytes` and was dropped. */
  readonly onOversize?: (bytes: number) => void
  /** A pipe broke or ended although the process may still run; an exit usually follows at once. */
  readonly onBroken?: (reason: string) => void
  readonly maxLineBytes?: number
  readonly watch?: EndingWatch | undefined
}

/** A spawned agent: its pipes as lines, its identity, and the end of its whole process tree. */
export interface AgentProcess {
  readonly info: AgentProcessInfo
  /** Writes one line to stdin. A promise is returned while the pipe is full; it never rejects. */
  write(line: string): void | Promise<void>
  /** Closes stdin of a process that continues: a command without input. */
  endInput(): void
  /** The last 64 KiB of stderr. */
  stderrTail(): string
  /** Records and returns the running processes of the tree. */
  snapshot(): readonly AgentProcessInfo[]
  /** Settles when the process itself ended; never rejects. */
  readonly exit: Promise<ProcessExit>
  /** Settles when it ended and all of its output was passed on; never rejects. */
  readonly closed: Promise<ProcessExit>
  /**
   * Ends the whole tree and resolves once nothing of it runs. Idempotent. Starts by itself when the process
   * ends, for what it left running.
   * @throws `termination_failed`; the next call tries again
   */
  terminate(): Promise<ProcessExit>
}

/**
 * Spawns an agent directly, never through a shell, in a process group of its own.
 * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`
 */
export async function spawnAgentProcess(launch: Launch, options: SpawnOptions): Promise<AgentProcess> {
  checkLaunch(launch)
  const agent = new PipedAgent(new ChildPipes(await spawnChild(launch)), launch.marker, options)
  const forget = endWithHost(agent.tree)
  void agent.exit.then(() => agent.terminate().catch(() => {})).finally(forget)
  return agent
}

function spawnChild(launch: Launch): Promise<ChildProcessWithoutNullStreams> {
  return new Promise((resolve, reject) => {
    const failed = (thrown: unknown): void => reject(spawnFailure(thrown, launch))
    try {
      const child = inHeldFolder(launch.cwd, (cwd) =>
        spawn(launch.command, launch.args, {
          cwd,
          env: launch.env,
          stdio: ['pipe', 'pipe', 'pipe'],
          detached: process.platform !== 'win32',
          windowsHide: true,
        }),
      )
      child.once('error', failed)
      child.once('spawn', () => {
        child.off('error', failed)
        // A later error, such as a signal that could not be sent, adds nothing to the exit.
        child.on('error', () => {})
        resolve(child)
      })
    } catch (thrown) {
      failed(thrown)
    }
  })
}

/** What is the same of every agent, with pipes of this process or of a keeper. */
export class PipedAgent implements AgentProcess {
  readonly info: AgentProcessInfo
  readonly exit: Promise<ProcessExit>
  readonly closed: Promise<ProcessExit>
  readonly tree: ProcessTree
  protected readonly stdout: OutputPump
  protected readonly stderr: OutputPump
  readonly #pipes: ProcessPipes
  readonly #options: SpawnOptions
  readonly #clock: Clock
  readonly #tail = new StderrTail()
  #recording: Timer | undefined
  #termination: Promise<ProcessExit> | undefined

  /** @param marker value of the session marker in the environment of its descendants */
  constructor(pipes: ProcessPipes, marker: string, options: SpawnOptions) {
    this.#pipes = pipes
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.info = pipes.info
    this.exit = pipes.exit
    this.tree = new ProcessTree({ leader: this.info, marker })
    pipes.onBroken((reason) => this.#broken(reason))
    this.stderr = new OutputPump(pipes.stderr, this.#tail, options.onStderr ?? (() => {}))
    this.stdout = this.#readStdout()
    this.closed = this.#delivered([this.stdout, this.stderr])
  }

  write(line: string): void | Promise<void> {
    return this.#pipes.write(`${line}\n`)
  }

  endInput(): void {
    this.#pipes.endInput()
  }

  stderrTail(): string {
    return this.#tail.text
  }

  snapshot(): readonly AgentProcessInfo[] {
    return this.tree.collect()
  }

  terminate(): Promise<ProcessExit> {
    this.#termination ??= this.#terminate().catch((failed: unknown) => {
      // The survivors may have ended, or be killable, at the next call.
      this.#termination = undefined
      throw failed
    })
    return this.#termination
  }

  async #terminate(): Promise<ProcessExit> {
    this.#recording?.cancel()
    const { foreign } = this.#pipes
    // It is not ended, so nothing may say that it has.
    if (foreign === 'taken-over' && identify(this.info.pid)?.startTime === this.info.startTime)
      throw takenOver(this.info)
    if (foreign !== undefined) return {}
    const { graces, watch } = this.#options
    const endStdin = (): void => this.endInput()
    await endTree({ tree: this.tree, clock: this.#clock, graces, endStdin, exit: this.exit, watch })
    this.#pipes.gone()
    return this.exit
  }

  #readStdout(): OutputPump {
    const { onLines, onOversize, maxLineBytes } = this.#options
    const lines = new LineSplitter(maxLineBytes ?? MAX_LINE_BYTES, onOversize ?? (() => {}))
    const pump = new OutputPump(this.#pipes.stdout, lines, (batch) => {
      if (this.#recording === undefined) this.#recordSoon()
      return onLines(batch)
    })
    void pump.ended.then(() => this.#broken('its stdout ended'))
    return pump
  }

  /** Tools without a marker that outlive a crash are found only if they were recorded while their parent was running. */
  #recordSoon(): void {
    if (this.#termination) return
    this.#recording = this.#clock.after(RECORD_AFTER_MS, () => {
      this.#recording = undefined
      this.tree.record(recentProcesses())
    })
  }

  async #delivered(pumps: readonly OutputPump[]): Promise<ProcessExit> {
    const exit = await this.exit
    await this.#pipes.begun
    await Promise.all(pumps.map((pump) => drained(pump, this.#clock)))
    return exit
  }

  #broken(reason: string): void {
    if (!this.#termination) this.#options.onBroken?.(reason)
  }
}

/** Waits for the end of a pipe, but not for a descendant that holds it open without writing. */
async function drained(pump: OutputPump, clock: Clock): Promise<void> {
  let reads = pump.reads
  let timer = clock.after(OUTPUT_GRACE_MS, expire)
  function expire(): void {
    // After a busy event loop, timers fire before the pipes are read: only a poll shows that nothing came.
    afterPoll(() => {
      if (!pump.held && pump.reads === reads) return pump.stop()
      reads = pump.reads
      timer = clock.after(OUTPUT_GRACE_MS, expire)
    })
  }
  await pump.ended
  timer.cancel()
}

// The first immediate may follow a poll that had begun before this call.
function afterPoll(run: () => void): void {
  setImmediate(() => setImmediate(run))
}

const takenOver = ({ pid }: AgentProcessInfo): AgentprotoError =>
  new AgentprotoError('termination_failed', `Another host controls the agent, process ${pid}`, {
    hint: 'Restart the gateway of this home: agentproto restart',
    data: { pids: [pid] },
  })
