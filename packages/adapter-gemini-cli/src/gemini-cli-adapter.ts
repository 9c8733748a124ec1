import { randomUUID } from 'node:crypto'
import { exitMessage } from '@agentproto/arm-kit'
import { AgentprotoError, type ContentBlock, defined, type Json, promptText, type TurnEnd } from '@agentproto/contracts'
import {
  type AgentCliClient,
  type AgentCliConnectOptions,
  type AgentCliEvent,
  type AgentCliInfo,
  type AgentCliReattached,
  type AgentCliReattachOptions,
  EventQueue,
} from '@agentproto/contracts/agent'
import { checkLaunch, findExecutable } from '@agentproto/subprocess'
import { followTurn, startTurn, type TurnOutcome, type TurnProcess } from './turn-process.js'

const STORED = ['no', 'perhaps', 'yes'] as const
/** Whether Gemini has stored the conversation. */
type Stored = (typeof STORED)[number]

/**
 * Gemini CLI without ACP: its headless mode, with one process for each turn, which continues the conversation of the
 * turn before (AIP-45 `protocol: proprietary`). In this mode Gemini never asks for permission: it has no tool for what its
 * approval mode does not allow.
 */
export class GeminiCliAdapter implements AgentCliClient {
  readonly #events = new EventQueue<AgentCliEvent>()
  #options: AgentCliConnectOptions | undefined
  #sessionId: string = randomUUID()
  #stored: Stored = 'no'
  #turn: TurnProcess | undefined
  /** Settles when the process of the previous turn and its children have ended. */
  #previousGone: Promise<unknown> = Promise.resolve()
  /** The turn that is running, or whose process has not ended yet. */
  #sending: Promise<void> | undefined
  #number = 0
  #cancelled = false
  #closed = false

  /** Id of the conversation. We choose it, and Gemini uses it. */
  get sessionId(): string {
    return this.#sessionId
  }

  /** Checks that the executable exists; the first turn starts it. @throws `agent_not_installed`, `cwd_invalid` */
  async connect(options: AgentCliConnectOptions): Promise<AgentCliInfo> {
    const { command, resume } = options
    checkLaunch({ ...options, marker: '' })
    if ((await findExecutable(command)) === undefined) {
      throw new AgentprotoError('agent_not_installed', `The executable ${command} does not exist or cannot be executed`)
    }
    this.#options = options
    if (resume !== undefined) {
      this.#sessionId = resume
      this.#stored = 'yes'
    }
    return { name: 'gemini-cli' }
  }

  async send(_turnId: string, message: string | readonly ContentBlock[]): Promise<void> {
    const options = this.#options
    if (!options || this.#closed) throw new AgentprotoError('session_ended', 'The adapter is not connected')
    const previous = this.#sending
    if (previous && !this.#cancelled)
      throw new AgentprotoError('turn_in_progress', 'A turn of this session is already running')
    this.#cancelled = false
    const prompt = typeof message === 'string' ? message : promptText(message)
    // Two processes at once would corrupt the conversation.
    const begin = async (): Promise<TurnOutcome> => {
      await previous?.catch(() => {})
      return this.#run(prompt, options)
    }
    await this.#sendBy({ prompt, options, begin })
  }

  /** Goes on where an earlier host ended; the process of each turn outlives its host. */
  async reattach({ facts, turn, ...options }: AgentCliReattachOptions): Promise<AgentCliReattached> {
    const { sessionId, stored } = facts
    const known = STORED.find((each) => each === stored)
    if (typeof sessionId !== 'string' || known === undefined)
      throw new Error('The id of the conversation is not stored')
    this.#options = options
    this.#sessionId = sessionId
    this.#stored = known
    if (!turn) return { caughtUp: Promise.resolve() }
    const followed = followTurn(turn.process, options, this.#emitOf(this.#number + 1))
    const prompt = turn.input.replace(/\n$/, '')
    void this.#sendBy({ prompt, options, begin: () => this.#follow(followed) }).catch((thrown: unknown) =>
      this.#events.push([{ type: 'error', message: thrown instanceof Error ? thrown.message : String(thrown) }]),
    )
    return { caughtUp: followed.caughtUp }
  }

  facts(): Json {
    return { sessionId: this.#sessionId, stored: this.#stored }
  }

  async #sendBy(turn: Beginning): Promise<void> {
    const sending = this.#runTurn(turn)
    this.#sending = sending
    try {
      await sending
    } finally {
      if (this.#sending === sending) this.#sending = undefined
    }
  }

  async #runTurn({ prompt, options, begin }: Beginning): Promise<void> {
    const number = ++this.#number
    let outcome = await begin()
    // A turn that was cancelled early may have stored nothing to continue.
    if (outcome.sessionMissing && this.#stored === 'perhaps' && !this.#cancelled && number === this.#number) {
      this.#stored = 'no'
      outcome = await this.#run(prompt, options)
    }
    const { result } = outcome
    if (result && !result.error) this.#stored = 'yes'
    else if (this.#stored === 'no') this.#stored = 'perhaps'
    // A later turn has started: this end would be mistaken for the end of that turn.
    if (number === this.#number) await this.#events.push(this.#conclude(outcome))
  }

  events(): AsyncIterable<AgentCliEvent> {
    return this.#events
  }

  async cancel(): Promise<void> {
    this.#cancelled = true
    await this.#turn?.end()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelled = true
    await this.#turn?.end()
    this.#events.end()
  }

  async #run(prompt: string, options: AgentCliConnectOptions): Promise<TurnOutcome> {
    const emit = this.#emitOf(this.#number)
    // Both processes have the session's marker, by which leftovers of the first are found and ended.
    await this.#previousGone
    return this.#follow(await startTurn(prompt, { ...options, args: this.#arguments(options) }, emit))
  }

  /** Emits what belongs to a turn while that is the last one. */
  #emitOf(number: number): (events: readonly AgentCliEvent[]) => void | Promise<void> {
    return (events) => (number === this.#number ? this.#events.push(events) : undefined)
  }

  async #follow(turn: TurnProcess): Promise<TurnOutcome> {
    this.#turn = turn
    this.#previousGone = turn.gone
    try {
      // Cancelled or closed while the process was starting.
      if (this.#cancelled) await turn.end()
      return await turn.outcome
    } finally {
      this.#turn = undefined
    }
  }

  #arguments({ args, additionalDirectories }: AgentCliConnectOptions): readonly string[] {
    const conversation = this.#stored === 'no' ? '--session-id' : '--resume'
    const folders = additionalDirectories.flatMap((folder) => ['--include-directories', folder])
    return [...args, '--output-format', 'stream-json', conversation, this.#sessionId, ...folders]
  }

  #conclude({ result, exit, stderrTail }: TurnOutcome): readonly AgentCliEvent[] {
    if (this.#cancelled) return [{ type: 'turn-end', reason: 'cancelled' }]
    const error = result
      ? result.error
      : { message: exitMessage(exit, stderrTail), ...(stderrTail === '' ? {} : { stderrTail }) }
    const reason = error ? reasonOf(exit.exitCode) : 'end_turn'
    const end: TurnEnd = { type: 'turn-end', reason, ...defined({ usage: result?.usage }) }
    return error && reason === 'error' ? [{ type: 'error', ...error }, end] : [end]
  }
}

/** A turn, and what begins its first process. */
interface Beginning {
  readonly prompt: string
  readonly options: AgentCliConnectOptions
  readonly begin: () => Promise<TurnOutcome>
}

/** Gemini exits with 53 when a session has used all of its turns. */
const reasonOf = (exitCode: number | undefined): TurnEnd['reason'] => (exitCode === 53 ? 'max_turn_requests' : 'error')
