import { exitMessage } from '@agentproto/arm-kit'
import { systemClock } from '@agentproto/contracts'
import type { AgentCliConnectOptions, AgentCliEvent, ProcessExit } from '@agentproto/contracts'
import { SESSION_MARKER, spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess } from '@agentproto/subprocess'
import { readLine } from './stream-json.js'
import type { GeminiResult } from './stream-json.js'

/** Gemini's own exit codes: the conversation does not exist, and the limit of its turns. */
const NO_SUCH_SESSION = 42
const TURN_LIMIT = 53

/** How long it may take to end after its result, in milliseconds. */
const EXIT_GRACE_MS = 3_000

/** How the process of one turn came out. */
export interface TurnOutcome {
  /** What it said of the end; undefined when it ended without a word. */
  readonly result: GeminiResult | undefined
  readonly exit: ProcessExit
  readonly stderrTail: string
  /** It did not find the conversation that it was to go on with. */
  readonly sessionMissing: boolean
}

/** Gemini CLI for the length of one turn. */
export class TurnProcess {
  readonly #agent: AgentProcess
  readonly outcome: Promise<TurnOutcome>
  /** Nothing of it is left, or will be ended any more: what bears its session's marker until then is. */
  readonly gone: Promise<unknown>
  #result: GeminiResult | undefined
  /** Something of the turn was told. */
  #spoke = false

  private constructor(agent: AgentProcess) {
    this.#agent = agent
    this.outcome = agent.closed.then((exit) => this.#ended(exit))
    this.gone = agent.closed.then(() => agent.terminate()).catch(() => {})
  }

  /**
   * Starts it and hands it the prompt on stdin: as an argument it would be cut at 128 KiB, and seen by everybody.
   * @param emit takes events; its promise holds the reading up
   */
  static async start(
    args: readonly string[],
    prompt: string,
    {
      options,
      emit,
    }: { options: AgentCliConnectOptions; emit: (events: readonly AgentCliEvent[]) => void | Promise<void> },
  ): Promise<TurnProcess> {
    const { command, cwd, env, termGraceMs } = options
    let turn: TurnProcess | undefined
    const early: string[] = []
    const agent = await spawnAgentProcess(
      { command, args, cwd, env: { GEMINI_CLI_NO_RELAUNCH: 'true', ...env }, marker: env[SESSION_MARKER] ?? '' },
      {
        // Its turn is over, or not wanted any more: there is nothing to wait for.
        graces: { stdinGraceMs: 0, termGraceMs },
        onLines: (lines) => (turn ? emit(turn.#read(lines)) : void early.push(...lines)),
        onStderr: (lines) => emit([{ type: 'output', stream: 'stderr', text: lines.join('\n') }]),
      },
    )
    turn = new TurnProcess(agent)
    void emit(turn.#read(early))
    void agent.write(prompt)
    agent.endInput()
    return turn
  }

  /** Ends it and what it started. */
  async end(): Promise<void> {
    await this.#agent.terminate()
  }

  #read(lines: readonly string[]): readonly AgentCliEvent[] {
    const events: AgentCliEvent[] = []
    for (const line of lines) {
      const read = readLine(line)
      if (read.is === 'result') this.#resulted(read.result)
      else events.push(...read.events)
    }
    this.#spoke ||= events.some(({ type }) => type !== 'output')
    return events
  }

  /** It ends by itself then; its tools and its MCP servers may not. */
  #resulted(result: GeminiResult): void {
    if (this.#result) return
    this.#result = result
    systemClock.after(EXIT_GRACE_MS, () => void this.end().catch(() => {}))
  }

  #ended(exit: ProcessExit): TurnOutcome {
    const stderrTail = this.#agent.stderrTail()
    const result =
      this.#result ?? (exit.exitCode === TURN_LIMIT ? { error: { message: exitMessage(exit, stderrTail) } } : undefined)
    const sessionMissing = exit.exitCode === NO_SUCH_SESSION && !this.#spoke && /resum/i.test(stderrTail)
    return { result, exit, stderrTail, sessionMissing }
  }
}
