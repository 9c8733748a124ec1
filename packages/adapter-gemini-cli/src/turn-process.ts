import { exitMessage } from '@agentproto/arm-kit'
import { systemClock } from '@agentproto/contracts'
import type { AgentCliConnectOptions, AgentCliEvent, KeptAgent, ProcessExit } from '@agentproto/contracts/agent'
import { keptProcess, SESSION_MARKER, spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess, SpawnOptions } from '@agentproto/subprocess'
import { type GeminiResult, readLine } from './stream-json.js'

/** Exit codes of Gemini: the conversation does not exist, and its turn limit is reached. */
const NO_SUCH_SESSION = 42
const TURN_LIMIT = 53

/** How long the process may take to exit after its result, in milliseconds. */
const EXIT_GRACE_MS = 3_000

/** The outcome of the process of one turn. */
export interface TurnOutcome {
  /** The reported end; undefined when the process exited without reporting one. */
  readonly result: GeminiResult | undefined
  readonly exit: ProcessExit
  readonly stderrTail: string
  /** The conversation to continue does not exist. */
  readonly sessionMissing: boolean
}

type Emit = (events: readonly AgentCliEvent[]) => void | Promise<void>

/** The process of Gemini CLI for one turn. */
export interface TurnProcess {
  readonly outcome: Promise<TurnOutcome>
  /** Settles when the process and its children have ended. Until then, processes with the session's marker are ended. */
  readonly gone: Promise<unknown>
  /** Ends the process and its children. */
  end(): Promise<unknown>
}

/**
 * Starts the process and writes the prompt to its stdin: an argument would be limited to 128 KiB and visible to all users.
 * @param options `args` are all arguments of this turn
 * @param emit receives events; reading waits for its promise
 */
export async function startTurn(prompt: string, options: AgentCliConnectOptions, emit: Emit): Promise<TurnProcess> {
  const { command, args, cwd, env, keep } = options
  const marker = markerOf(options)
  const launch = { command, args, cwd, env: { GEMINI_CLI_NO_RELAUNCH: 'true', ...env }, marker }
  const kept = await keep?.spawn(launch, `${prompt}\n`)
  if (kept) return followTurn(kept, options, emit)
  const turn = new TurnReader(options, emit)
  const agent = await spawnAgentProcess(launch, turn.options)
  void agent.write(prompt)
  agent.endInput()
  return turn.processOf(agent)
}

/** Reads the process of a turn that outlives this host, from its beginning. */
export function followTurn(kept: KeptAgent, options: AgentCliConnectOptions, emit: Emit): FollowedTurn {
  const turn = new TurnReader(options, emit)
  const agent = keptProcess(kept, markerOf(options), turn.options)
  agent.begin()
  return { ...turn.processOf(agent), caughtUp: agent.caughtUp }
}

export interface FollowedTurn extends TurnProcess {
  /** Settles when all events were emitted of what was kept at first; never rejects. */
  readonly caughtUp: Promise<void>
}

const markerOf = ({ env }: AgentCliConnectOptions): string => env[SESSION_MARKER] ?? ''

/** Reads what a process reports of its turn. */
class TurnReader {
  readonly options: SpawnOptions
  readonly #report: TurnReport
  #agent: AgentProcess | undefined

  constructor({ termGraceMs }: AgentCliConnectOptions, emit: Emit) {
    // The process then exits by itself, but its tools and MCP servers may not.
    const onResult = (): void =>
      void systemClock.after(EXIT_GRACE_MS, () => void this.#agent?.terminate().catch(() => {}))
    const report = new TurnReport(onResult)
    this.#report = report
    this.options = {
      // The turn is over or cancelled: there is nothing to wait for.
      graces: { stdinGraceMs: 0, termGraceMs },
      onLines: (lines) => emit(report.read(lines)),
      onStderr: (lines) => emit([{ type: 'output', stream: 'stderr', text: lines.join('\n') }]),
    }
  }

  processOf(agent: AgentProcess): TurnProcess {
    this.#agent = agent
    return {
      outcome: agent.closed.then((exit) => this.#report.outcomeOf(exit, agent.stderrTail())),
      gone: agent.closed.then(() => agent.terminate()).catch(() => {}),
      end: () => agent.terminate(),
    }
  }
}

/** What the process reported of its turn. */
class TurnReport {
  readonly #onResult: () => void
  #result: GeminiResult | undefined
  /** Whether any event of the turn was read. */
  #hasEvents = false

  constructor(onResult: () => void) {
    this.#onResult = onResult
  }

  read(lines: readonly string[]): readonly AgentCliEvent[] {
    const read = lines.map(readLine)
    for (const { result } of read) {
      if (result && !this.#result) this.#onResult()
      this.#result ??= result
    }
    const events = read.flatMap((line) => line.events)
    this.#hasEvents ||= events.some(({ type }) => type !== 'output')
    return events
  }

  outcomeOf(exit: ProcessExit, stderrTail: string): TurnOutcome {
    const limit = exit.exitCode === TURN_LIMIT ? { error: { message: exitMessage(exit, stderrTail) } } : undefined
    const sessionMissing = exit.exitCode === NO_SUCH_SESSION && !this.#hasEvents && /resum/i.test(stderrTail)
    return { result: this.#result ?? limit, exit, stderrTail, sessionMissing }
  }
}
