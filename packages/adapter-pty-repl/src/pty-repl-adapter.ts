import {
  type AgentAnswer,
  AgentprotoError,
  type ContentBlock,
  promptText,
  systemClock,
  type Timer,
} from '@agentproto/contracts'
import {
  type AgentCliClient,
  type AgentCliConnectOptions,
  type AgentCliEnd,
  type AgentCliEvent,
  EventQueue,
} from '@agentproto/contracts/agent'
import { EchoFilter } from './echo-filter.js'
import { ENTER, typing } from './keys.js'
import { parseSettings, type ReplQuestion, type ReplSettings } from './settings.js'
import { TerminalText } from './terminal-text.js'
import { openTerminal, type Terminal } from './terminal.js'

/** How much of the output is kept for the end, in characters. */
const TAIL = 4_096

/** What the program is doing. */
type State = 'starting' | 'waiting' | 'working' | 'interrupted' | 'ended'

/**
 * Any program that shows a prompt in a terminal and waits (AIP-45 `protocol: proprietary`). A turn is the output from the
 * typed line to the next prompt. A terminal shows only text, so there are no thoughts and no tools.
 */
export class PtyReplAdapter implements AgentCliClient {
  ended: Promise<AgentCliEnd> | undefined
  readonly #events = new EventQueue<AgentCliEvent>()
  readonly #shown = new TerminalText()
  /** The program, once its terminal is open. */
  #program: { readonly terminal: Terminal; readonly settings: ReplSettings } | undefined
  #state: State = 'starting'
  #echo = new EchoFilter('', [])
  /** Newlines that are emitted only when more text follows. */
  #newlines = ''
  /** Whether text of the turn was emitted. */
  #begun = false
  #quiet: Timer | undefined
  #question: { readonly id: string; readonly question: ReplQuestion } | undefined
  #questions = 0
  #tail = ''
  #ready: () => void = () => {}

  /** Starts the program and waits for its first prompt. @throws `manifest_invalid`, `agent_not_installed`, `agent_exited` */
  async connect(options: AgentCliConnectOptions): Promise<void> {
    const settings = parseSettings(options.settings)
    const ready = new Promise<void>((resolve) => (this.#ready = resolve))
    const terminal = await openTerminal(options, {
      columns: settings.columns,
      onData: (data) => this.#onOutput(data, settings),
    })
    this.#program = { terminal, settings }
    this.ended = terminal.ended.then((end) => this.#onEnded(end))
    await Promise.race([ready, this.ended.then(failedStart), abortOf(options.abortSignal)])
  }

  async send(_turnId: string, message: string | readonly ContentBlock[]): Promise<void> {
    if (!this.#program || this.#state === 'ended')
      throw new AgentprotoError('session_ended', 'The program is not running')
    if (this.#state !== 'waiting')
      throw new AgentprotoError('turn_in_progress', 'The program has not returned to its prompt')
    const { terminal, settings } = this.#program
    const typed = typing(typeof message === 'string' ? message : promptText(message), settings)
    if ('refused' in typed) throw new AgentprotoError('not_supported', typed.refused)
    const { prompt, continuation } = settings
    this.#echo = new EchoFilter(typed.echo, continuation ? [prompt, continuation] : [prompt])
    this.#newlines = ''
    this.#shown.takeLine()
    this.#state = 'working'
    terminal.type(typed.keys)
  }

  events(): AsyncIterable<AgentCliEvent> {
    return this.#events
  }

  async answer(requestId: string, answer: AgentAnswer): Promise<void> {
    if (this.#question?.id !== requestId) return
    const { options } = this.#question.question
    this.#question = undefined
    const chosen =
      answer.outcome === 'selected' ? options.find(({ optionId }) => optionId === answer.optionId) : undefined
    const refusal = chosen ?? options.find(({ kind }) => kind === 'reject_once' || kind === 'reject_always')
    if (!refusal) return this.cancel()
    this.#echo = new EchoFilter(refusal.reply, [])
    this.#program?.terminal.type(refusal.reply + ENTER)
  }

  async cancel(): Promise<void> {
    if (this.#state !== 'working' || !this.#program) return
    this.#state = 'interrupted'
    this.#question = undefined
    this.#program.terminal.type(this.#program.settings.interrupt)
  }

  async close(): Promise<void> {
    this.#quiet?.cancel()
    await this.#program?.terminal.close()
    this.#events.end()
  }

  #onOutput(data: string, settings: ReplSettings): void | Promise<void> {
    const lines = this.#echo.filter(this.#shown.feed(data))
    this.#quiet?.cancel()
    this.#quiet = systemClock.after(settings.quietMs, () => void this.#onSilence(settings))
    return this.#emit(lines.join(''))
  }

  /** No output for a while: the program waits, asks a question, or is slow in the middle of a line. */
  #onSilence(settings: ReplSettings): void | Promise<void> {
    const { prompt, questions } = settings
    const { line } = this.#shown
    const waiting = prompt.exec(line)
    if (waiting) return this.#onPrompt(waiting.groups?.['said'] ?? '')
    const asked = this.#state === 'working' ? questions.find(({ pattern }) => pattern.test(line)) : undefined
    if (asked) return this.#ask(asked)
    if (line === '' || this.#echo.expects(line)) return
    return this.#emit([...this.#echo.end(), this.#shown.takeLine()].join(''))
  }

  #onPrompt(said: string): void | Promise<void> {
    const state = this.#state
    if (state === 'ended' || state === 'waiting') return
    this.#shown.takeLine()
    void this.#emit(this.#echo.end().join('') + said)
    this.#state = 'waiting'
    this.#begun = false
    if (state === 'starting') return this.#ready()
    return this.#events.push([{ type: 'turn-end', reason: state === 'interrupted' ? 'cancelled' : 'end_turn' }])
  }

  #ask(question: ReplQuestion): void | Promise<void> {
    const title = this.#shown.takeLine().trim()
    const requestId = `question-${this.#questions++}`
    this.#question = { id: requestId, question }
    const toolCall = { type: 'tool-call' as const, toolCallId: requestId, title, kind: 'other' as const }
    const options = question.options.map(({ optionId, name, kind }) => ({ optionId, name: name ?? optionId, kind }))
    return this.#events.push([{ type: 'agent-prompt', requestId, request: { kind: 'permission', toolCall, options } }])
  }

  #emit(text: string): void | Promise<void> {
    if (text === '') return
    this.#tail = (this.#tail + text).slice(-TAIL)
    if (this.#state !== 'working' && this.#state !== 'interrupted') {
      return this.#events.push([{ type: 'output', stream: 'stdout', text: text.trimEnd() }])
    }
    // The terminal adds newlines after the typed line and before the prompt.
    const whole = this.#begun ? this.#newlines + text : text.replace(/^\n+/, '')
    const said = whole.replace(/\n+$/, '')
    this.#newlines = whole.slice(said.length)
    this.#begun ||= said !== ''
    if (said !== '') return this.#events.push([{ type: 'text-delta', text: said }])
  }

  #onEnded(end: AgentCliEnd): AgentCliEnd {
    this.#quiet?.cancel()
    void this.#emit([...this.#echo.end(), this.#shown.takeLine()].join(''))
    this.#state = 'ended'
    return { ...end, stderrTail: end.stderrTail || this.#tail }
  }
}

function failedStart({ message, stderrTail }: AgentCliEnd): never {
  const last = stderrTail?.trimEnd().split('\n').at(-1)
  const how = message ?? 'The program ended'
  throw new AgentprotoError('agent_exited', last ? `${how}. Its last output: ${last}` : how)
}

const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new AgentprotoError('cancelled', 'The start was cancelled'))),
  )
