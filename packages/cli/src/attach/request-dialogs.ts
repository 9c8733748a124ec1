import type { AnswerRequest } from '@agentproto/contracts/wire'
import type { AskedRequest } from '../render/request-content.js'
import { KeyGuard } from './key-guard.js'
import type { Key } from './keyboard.js'
import type { LiveRows } from './live-area.js'
import { type DialogFrame, RequestDialog } from './request-dialog.js'

/** What a key asks the program to do: give an answer, or show something else and leave the request open. */
export type DialogAction =
  | { readonly type: 'answer'; readonly requestId: string; readonly answer: AnswerRequest }
  | { readonly type: 'leave'; readonly requestId: string }

/** An answer may have failed; after this many milliseconds the request can be answered again. */
const ANSWERED_MS = 3_000

/** The requests that wait on a screen, of one session or of many: the first one is shown and gets the keys. */
export class RequestDialogs {
  readonly #asked = new Map<string, AskedRequest>()
  readonly #guard = new KeyGuard()
  #open: { readonly requestId: string; readonly dialog: RequestDialog } | undefined
  #answered: { readonly requestId: string; readonly at: number } | undefined

  get size(): number {
    return this.#asked.size
  }

  /** The request that is shown. */
  get current(): AskedRequest | undefined {
    const [first] = this.#asked.values()
    return first
  }

  /** Whether text is typed into it: it is a question with a form. */
  get takesText(): boolean {
    return this.#dialog?.dialog.takesText === true
  }

  add(asked: AskedRequest): void {
    this.#asked.set(asked.requestId, asked)
  }

  /** It was answered, here or elsewhere, or its turn has ended. */
  remove(requestId: string): void {
    this.#asked.delete(requestId)
  }

  /** What is added after it is shown again from the beginning, even if it was shown before. */
  clear(): void {
    this.#asked.clear()
    this.#open = undefined
  }

  /** A key did something else, such as to end a line: it may be held down until a question is shown, which is then to be read. */
  hold(key: Key, now: number): void {
    this.#guard.refusal(key, now)
    this.#open?.dialog.hide()
  }

  key(key: Key, now: number): DialogAction | undefined {
    const open = this.#dialog
    if (open === undefined) return undefined
    // The guard still learns of it: the key may be held down until the next question is shown.
    if (this.#isAnswered(open.requestId, now)) return void this.#guard.refusal(key, now)
    const result = open.dialog.key(key, now)
    if (result === undefined) return undefined
    const { requestId } = open
    if ('leave' in result) return { type: 'leave', requestId }
    this.#answered = { requestId, at: now }
    return { type: 'answer', requestId, answer: result.answer }
  }

  view(frame: DialogFrame): LiveRows {
    const place = this.#asked.size > 1 ? ` (1 of ${this.#asked.size})` : ''
    return this.#dialog?.dialog.view(frame, place) ?? { rows: [] }
  }

  #isAnswered(requestId: string, now: number): boolean {
    return this.#answered?.requestId === requestId && now - this.#answered.at < ANSWERED_MS
  }

  get #dialog(): { readonly requestId: string; readonly dialog: RequestDialog } | undefined {
    const { current } = this
    if (current === undefined) this.#open = undefined
    else if (this.#open?.requestId !== current.requestId)
      this.#open = { requestId: current.requestId, dialog: new RequestDialog(current, this.#guard) }
    return this.#open
  }
}
