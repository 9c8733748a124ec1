import {
  promptText,
  type AnswerRequest,
  type Session,
  type SessionEvent,
  type SessionRequest,
} from '@agentproto/contracts'
import type { Paint } from '../render/paint.js'
import { cut } from '../render/fit.js'
import { Transcript } from '../render/transcript.js'
import { commandHint, completeCommand } from './command-completion.js'
import { isCtrl, type Key } from './key.js'
import { LineEditor } from './line-editor.js'
import type { LiveRows } from './live-area.js'
import { requestDialog, type RequestDialog } from './request-dialog.js'
import { StatusRow } from './status-row.js'

/** What a key asks of the program. */
export type AttachAction =
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'answer'; readonly requestId: string; readonly answer: AnswerRequest }
  | { readonly type: 'interrupt' }
  | { readonly type: 'detach' }

export interface ScreenOptions {
  readonly session: Session
  readonly paint: Paint
  readonly width: () => number
}

type Asked = Pick<SessionRequest, 'requestId' | 'request'>
/** A second Ctrl-C within this time, in milliseconds, detaches. */
const DETACH_MS = 2_000
const PROMPT = '❯ '

/**
 * The screen of `sessions --attach`: events and keys in, rows and actions out. It knows no terminal and
 * calls nobody.
 */
export class AttachScreen {
  readonly #options: ScreenOptions
  readonly #transcript: Transcript
  readonly #status: StatusRow
  readonly #editor = new LineEditor()
  readonly #dialogs = new Map<string, RequestDialog>()
  #finished: string[] = []
  #note = ''
  #isAway = false
  #interruptedAt = -Infinity

  constructor(options: ScreenOptions) {
    this.#options = options
    this.#transcript = new Transcript({ ...options, requestsWhenAnswered: true })
    this.#status = new StatusRow(options.session)
  }

  get hasEnded(): boolean {
    return this.#status.hasEnded
  }

  event(event: SessionEvent): void {
    this.#finished.push(...this.#transcript.take(event))
    this.#status.take(event)
    if (event.type === 'user-prompt') this.#editor.remember(promptText(event.content))
    if (event.type === 'agent-prompt') this.#dialogs.set(event.requestId, requestDialog(event.request))
    if (event.type === 'agent-prompt-resolved') this.#dialogs.delete(event.requestId)
    if (event.type === 'turn-end' || event.type === 'session-stopped') {
      this.#dialogs.clear()
      this.#note = ''
    }
  }

  /** Requests that were open before the part of the log that is shown. */
  pending(requests: readonly Asked[]): void {
    for (const { requestId, request } of requests) this.#dialogs.set(requestId, requestDialog(request))
  }

  /** The gateway does not answer: said in the transcript, once. */
  away(): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#finished.push(...this.#aside('The gateway is away; waiting for it.'))
  }

  /** The gateway answers again; what happened meanwhile follows. */
  back(): void {
    if (!this.#isAway) return
    this.#isAway = false
    this.#finished.push(...this.#aside('The gateway is back.'))
  }

  /** A prompt that was not taken comes back into the line, unless something else is typed by now. */
  giveBack(text: string): void {
    if (this.#editor.text === '') this.#editor.text = text
  }

  /** Something that the person should know, until the next key. */
  note(text: string): void {
    this.#note = text
  }

  key(key: Key, now: number): AttachAction | undefined {
    this.#note = ''
    if (isCtrl(key, 'c')) return this.#controlC(now)
    if (isCtrl(key, 'd') && this.#editor.text === '') return { type: 'detach' }
    const asked = this.#asked
    if (asked !== undefined) return answerOf(asked, key)
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
    const asked = this.#asked
    if (asked !== undefined) {
      const { rows, column } = asked.dialog.view({ paint, width })
      const cursor = column === undefined ? {} : { cursor: { row: above.length + rows.length - 1, column } }
      return { rows: [...above, ...rows], ...cursor }
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

  /** A row of ours in the transcript. */
  #aside(text: string): string[] {
    return [...this.#transcript.pause(), this.#options.paint.yellow(cut(`! ${text}`, this.#options.width()))]
  }

  /**
   * The request that keys go to. A line that is being typed comes first: a key that was meant for it must
   * never answer.
   */
  get #asked(): { readonly requestId: string; readonly dialog: RequestDialog } | undefined {
    if (this.#editor.text !== '') return undefined
    const [first] = this.#dialogs
    return first === undefined ? undefined : { requestId: first[0], dialog: first[1] }
  }

  #controlC(now: number): AttachAction | undefined {
    const isSecond = now - this.#interruptedAt <= DETACH_MS
    this.#interruptedAt = now
    if (isSecond) return { type: 'detach' }
    if (this.#status.isBusy) {
      this.#note = 'Interrupting; Ctrl-C again leaves the session running and detaches.'
      return { type: 'interrupt' }
    }
    this.#editor.clear()
    this.#note = 'Ctrl-C again detaches; the session goes on.'
    return undefined
  }

  #submit(line: string): AttachAction | undefined {
    const text = line.trim()
    if (text === '') return undefined
    if (text === '/detach' || text === '/quit') return { type: 'detach' }
    if (this.#isAway) {
      this.#editor.text = line
      this.#note = 'The gateway is away; your line is kept until it is back.'
      return undefined
    }
    if (this.#status.isBusy) {
      this.#editor.text = line
      this.#note = 'A turn is running: wait for its end, or interrupt it with Ctrl-C.'
      return undefined
    }
    return { type: 'prompt', text: line }
  }

  #hint(): string {
    if (this.#dialogs.size > 0 && this.#editor.text !== '') return 'Ctrl-U clears your line, then answer'
    if (this.#isAway) return 'gateway away'
    if (this.#status.isBusy) return 'Ctrl-C interrupts'
    if (this.#status.hasEnded) return 'a prompt wakes it'
    return '/detach leaves'
  }
}

function answerOf(
  { requestId, dialog }: { readonly requestId: string; readonly dialog: RequestDialog },
  key: Key,
): AttachAction | undefined {
  const answer = dialog.key(key)
  return answer === undefined ? undefined : { type: 'answer', requestId, answer }
}
