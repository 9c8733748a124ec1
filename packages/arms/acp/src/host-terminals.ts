import { resolve } from 'node:path'
import { type Clock, isAgentprotoError, randomId } from '@agentproto/contracts'
import type { ArmLimits, Launch, ProcessExit } from '@agentproto/contracts/agent'
import { findExecutable, SESSION_MARKER, spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess } from '@agentproto/subprocess'
import { AGENT_BOUNDS } from './agent-bounds.js'
import { HostRefusal } from './rpc-answer.js'
import { TerminalOutput } from './terminal-output.js'

export interface TerminalCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly outputByteLimit?: number
}

export interface TerminalsOptions {
  /** How the agent itself was launched: its environment is its commands'. */
  readonly launch: Launch
  readonly limits: Pick<ArmLimits, 'termGraceMs'>
  readonly clock: Clock
}

interface Terminal {
  readonly process: AgentProcess
  readonly output: TerminalOutput
  exit?: ProcessExit
}

/** The commands that the host runs for the agent of a session. Each has its own process tree, and ends with the session. */
export class HostTerminals {
  readonly #options: TerminalsOptions
  readonly #terminals = new Map<string, Terminal>()
  /** Commands that are starting or ending; the end of the session waits for them. */
  readonly #changing = new Set<Promise<unknown>>()
  #closed = false

  constructor(options: TerminalsOptions) {
    this.#options = options
  }

  /** @throws `HostRefusal` */
  create(request: TerminalCommand): Promise<string> {
    const creating = this.#create(request)
    this.#wait(creating)
    return creating
  }

  async #create(request: TerminalCommand): Promise<string> {
    if (this.#terminals.size >= AGENT_BOUNDS.terminals)
      throw new HostRefusal('failed', `The session has ${AGENT_BOUNDS.terminals} terminals`)
    // Never one of an earlier host, whose commands have ended.
    const id = randomId('terminal-')
    const output = new TerminalOutput(request.outputByteLimit)
    const process = await this.#spawn(request, id, output)
    const terminal: Terminal = { process, output }
    void process.closed.then((exit) => (terminal.exit = exit))
    this.#terminals.set(id, terminal)
    if (this.#closed) {
      this.#end(id)
      throw new HostRefusal('failed', 'The session has ended')
    }
    return id
  }

  output(id: unknown): object {
    const { output, exit } = this.#get(id)
    return { ...output.read(), ...(exit ? { exitStatus: statusOf(exit) } : {}) }
  }

  async waitForExit(id: unknown): Promise<object> {
    return statusOf(await this.#get(id).process.closed)
  }

  /** Ends the command; what it said can still be read. One that resists is ended again with its session. */
  async kill(id: unknown): Promise<void> {
    await this.#get(id)
      .process.terminate()
      .catch(() => {})
  }

  release(id: unknown): void {
    this.#get(id)
    this.#end(String(id))
  }

  /** Ends every command. Settles when they are gone, or refuse to be. */
  async close(): Promise<void> {
    this.#closed = true
    for (const id of this.#terminals.keys()) this.#end(id)
    while (this.#changing.size > 0) await Promise.all(this.#changing)
  }

  #wait(change: Promise<unknown>): void {
    const settled: Promise<void> = change.then(
      () => void this.#changing.delete(settled),
      () => void this.#changing.delete(settled),
    )
    this.#changing.add(settled)
  }

  #get(id: unknown): Terminal {
    const terminal = typeof id === 'string' ? this.#terminals.get(id) : undefined
    if (!terminal)
      throw new HostRefusal(
        'absent',
        `Resource not found: terminal ${String(id)}. A command ends with the gateway that ran it.`,
      )
    return terminal
  }

  #end(id: string): void {
    const terminal = this.#terminals.get(id)
    this.#terminals.delete(id)
    if (terminal) this.#wait(terminal.process.terminate())
  }

  async #spawn(
    { command, args, cwd, env: own }: TerminalCommand,
    id: string,
    output: TerminalOutput,
  ): Promise<AgentProcess> {
    const { launch, limits, clock } = this.#options
    // Below the agent's own marker: it is found with the session, and not ended with another process of it.
    const marker = `${launch.marker}/${id}`
    const env = { ...launch.env, ...own, [SESSION_MARKER]: marker }
    const file = await executable(command, cwd, env)
    const take = (lines: readonly string[]): void => output.add(lines)
    try {
      const process = await spawnAgentProcess(
        { command: file, args, cwd, env, marker },
        {
          clock,
          // Its stdin is closed from the beginning.
          graces: { ...limits, stdinGraceMs: 0 },
          maxLineBytes: AGENT_BOUNDS.terminalLineBytes,
          onLines: take,
          onStderr: take,
          onOversize: (bytes) => output.add([`[a line of ${bytes} bytes was left out]`]),
        },
      )
      process.endInput()
      return process
    } catch (thrown) {
      throw new HostRefusal(
        'failed',
        isAgentprotoError(thrown) ? thrown.message : `The command could not be started: ${command}`,
      )
    }
  }
}

/** Directly, never through a shell. */
async function executable(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  if (command.includes('\0') || command === '') throw new HostRefusal('invalid', 'The command must be a name or a path')
  if (command.includes('/')) return resolve(cwd, command)
  const { PATH: path = '' } = env
  const found = await findExecutable(command, { path })
  if (found === undefined) throw new HostRefusal('absent', `Resource not found: no command ${command} on PATH`)
  return found
}

const statusOf = ({ exitCode, signal }: ProcessExit): object => ({ exitCode: exitCode ?? null, signal: signal ?? null })
