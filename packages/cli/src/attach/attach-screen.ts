import { defined, promptText, type Session, type SessionEvent } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { cut } from '../render/fit.js'
import { Transcript, type TranscriptOptions } from '../render/transcript.js'
import { commandHint, completeCommand } from './command-completion.js'
import { isCtrl, type Key } from './keyboard.js'
import { LineEditor } from './line-editor.js'
import type { LiveRows } from './live-area.js'
import { RequestDialogs } from './request-dialogs.js'
import { StatusRow } from './status-row.js'

/** What a key asks the program to do. */
export type AttachAction =
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'answer'; readonly requestId: string; readonly answer: AnswerRequest }
  | { readonly type: 'interrupt' }
  | { readonly type: 'detach' }

export interface ScreenOptions extends Pick<TranscriptOptions, 'paint' | 'width'> {
  readonly session: Session
  /** Rows of the terminal. */
  readonly height: () => number
}

/** A second Ctrl-C within this time, in milliseconds, detaches. */
const DETACH_MS = 2_000
const PROMPT = '❯ '

/** The screen of `sessions --attach`: events and keys in, rows and actions out. It has no terminal and calls nothing. */
export class AttachScreen {
  readonly #options: ScreenOptions
  readonly #transcript: Transcript
  readonly #status: StatusRow
  readonly #editor = new LineEditor()
  readonly #dialogs = new RequestDialogs()
  #finished: string[] = []
  #note = ''
  #isDisconnected = false
  #interruptedAt = -Infinity

  constructor(options: ScreenOptions) {
    this.#options = options
    this.#transcript = new Transcript({ ...options, requestsWhenAnswered: true })
    this.#status = new StatusRow(options.session)
  }

  apply(event: SessionEvent): void {
    this.#finished.push(...this.#transcript.apply(event))
    this.#status.apply(event)
    if (event.type === 'user-prompt') this.#editor.remember(promptText(event.content))
    if (event.type === 'agent-prompt') this.#dialogs.add({ ...event, session: this.#options.session })
    if (event.type === 'agent-prompt-resolved') this.#dialogs.remove(event.requestId)
    if (event.type === 'turn-end' || event.type === 'session-stopped') {
      this.#dialogs.clear()
      this.#note = ''
    }
  }

  /** The transcript reports an outage of the gateway and its end, each once. The events that were missed follow. */
  setConnected(isConnected: boolean): void {
    if (isConnected !== this.#isDisconnected) return
    this.#isDisconnected = !isConnected
    const text = isConnected ? 'Connected again.' : 'The gateway does not answer; reconnecting.'
    const { paint, width } = this.#options
    this.#finished.push(...this.#transcript.finishPartial(), paint.yellow(cut(`! ${text}`, width())))
  }

  /** Puts a refused prompt back into the line, unless something else is typed by now. */
  restorePrompt(text: string): void {
    if (this.#editor.text === '') this.#editor.text = text
  }

  /** A message that is shown until the next key. */
  note(text: string): void {
    this.#note = text
  }

  key(key: Key, now: number): AttachAction | undefined {
    this.#note = ''
    if (isCtrl(key, 'c')) return this.#controlC(now)
    if (isCtrl(key, 'd') && this.#editor.text === '') return { type: 'detach' }
    if (this.#hasDialog && !this.#isForLine(key)) {
      const action = this.#dialogs.key(key, now)
      return action?.type === 'answer' ? action : undefined
    }
    if (key.name === 'tab') return this.#complete()
    const line = this.#editor.key(key)
    return line === undefined ? undefined : this.#submit(line)
  }

  /** The rows that are finished since the last call. */
  takeFinished(): readonly string[] {
    const rows = this.#finished
    this.#finished = []
    return rows
  }

  live(now: number): LiveRows {
    const { paint } = this.#options
    const width = this.#options.width()
    const { partial } = this.#transcript
    const status = this.#status.row({ now, width, paint, hint: this.#hint() })
    const above = [...(partial === '' ? [] : [partial]), ...this.#noteRows(width), status]
    if (this.#hasDialog) {
      const height = this.#options.height() - above.length
      const { rows, cursor } = this.#dialogs.view({ paint, width, height, now })
      const moved = cursor && { ...cursor, row: above.length + cursor.row }
      return { rows: [...above, ...rows], ...defined({ cursor: moved }) }
    }
    const { text, column } = this.#editor.view(width - PROMPT.length)
    return {
      rows: [...above, paint.bold(PROMPT) + text],
      cursor: { row: above.length, column: PROMPT.length + column },
    }
  }

  #noteRows(width: number): string[] {
    const { paint } = this.#options
    if (this.#note !== '') return [paint.yellow(cut(this.#note, width))]
    const completion = completeCommand(this.#editor.text, this.#status.commands)
    return completion === undefined ? [] : [paint.dim(cut(commandHint(completion), width))]
  }

  #complete(): undefined {
    const completion = completeCommand(this.#editor.text, this.#status.commands)
    if (completion !== undefined) this.#editor.text = completion.text
  }

  /** Whether a request gets the keys. None does while a line is typed: a key of the line must never answer a request. */
  get #hasDialog(): boolean {
    return this.#dialogs.size > 0 && this.#editor.text === ''
  }

  /** Pasted text answers nothing: it becomes the line, unless a form takes it. */
  #isForLine({ name, text = '', ctrl, meta, isPasted }: Key): boolean {
    const isText = name === 'paste' || (isPasted === true && !ctrl && !meta && /^[^\u0000-\u001F\u007F]+$/.test(text))
    return isText && !this.#dialogs.takesText
  }

  #controlC(now: number): AttachAction | undefined {
    const isSecond = now - this.#interruptedAt <= DETACH_MS
    this.#interruptedAt = now
    if (isSecond) return { type: 'detach' }
    if (this.#status.isBusy) {
      this.#note = 'Interrupting; Ctrl-C again detaches, and the session keeps running.'
      return { type: 'interrupt' }
    }
    this.#editor.clear()
    this.#note = 'Ctrl-C again detaches; the session keeps running.'
    return undefined
  }

  #submit(line: string): AttachAction | undefined {
    const text = line.trim()
    if (text === '') return undefined
    if (text === '/detach' || text === '/quit') return { type: 'detach' }
    if (!this.#isDisconnected && !this.#status.isBusy) return { type: 'prompt', text: line }
    this.#editor.text = line
    this.#note = this.#isDisconnected
      ? 'The gateway does not answer; your line is kept.'
      : 'A turn is running. Wait for its end, or interrupt it with Ctrl-C.'
    return undefined
  }

  #hint(): string {
    if (this.#dialogs.size > 0 && this.#editor.text !== '') return 'Ctrl-U clears your line, then answer'
    if (this.#isDisconnected) return 'reconnecting'
    if (this.#status.isBusy) return 'Ctrl-C interrupts'
    if (this.#status.hasEnded) return 'a prompt resumes it'
    return '/detach exits'
  }
}
