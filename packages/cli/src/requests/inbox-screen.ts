import type { AnsweredBy } from '@agentproto/contracts'
import type { AnswerRequest, SessionChange } from '@agentproto/contracts/wire'
import { isCtrl, type Key } from '../attach/keyboard.js'
import type { LiveRows } from '../attach/live-area.js'
import type { DialogFrame } from '../attach/request-dialog.js'
import { RequestDialogs } from '../attach/request-dialogs.js'
import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import type { AskedRequest } from '../render/request-content.js'
import { requestTitle } from '../render/request-title.js'
import { type SilentHost, silentNote } from '../render/silent-hosts.js'
import type { WaitingChange } from './waiting-feed.js'

/** What a key asks the program to do. */
export type InboxAction =
  | { readonly type: 'answer'; readonly asked: AskedRequest; readonly answer: AnswerRequest }
  | { readonly type: 'quit' }

/** Every request that waits, one at a time, as keys in, rows and actions out. */
export class InboxScreen {
  readonly #dialogs = new RequestDialogs()
  /** Those that this screen has answered, until the gateway says so. */
  readonly #answered = new Set<string>()
  #finished: string[] = []
  /** A host is taken for reachable until its lease has ended: only of these is it known that they are back. */
  readonly #lost = new Set<string>()
  #note = ''
  isDisconnected = false
  /** Hosts whose requests are missing. */
  silent: readonly SilentHost[] = []

  get isEmpty(): boolean {
    return this.#dialogs.size === 0
  }

  apply(change: WaitingChange): void {
    const { asked } = change
    if (change.type === 'asked') return this.#dialogs.add(asked)
    this.#dialogs.remove(asked.requestId)
    const who = this.#answered.delete(asked.requestId) ? 'you' : answererText(change.answeredBy)
    this.#finished.push(`${nameOf(asked)}: ${requestTitle(asked.request)} · ${who}`)
  }

  /** A host that was lost and is heard of again: its requests come with the changes of its sessions. */
  seen(change: SessionChange): void {
    if (change.type === 'forgotten') return
    const { hostId, state } = change.session
    if (state === 'unreachable') this.#lost.add(hostId)
    else if (this.#lost.delete(hostId)) this.silent = this.silent.filter(({ host }) => host !== hostId)
  }

  /** An answer that the gateway did not accept. */
  failed(asked: AskedRequest, problem: string): void {
    this.#answered.delete(asked.requestId)
    this.#note = `${nameOf(asked)}: ${problem}`
  }

  key(key: Key, now: number): InboxAction | undefined {
    if (this.#quits(key)) return { type: 'quit' }
    const { current } = this.#dialogs
    if (current === undefined) return undefined
    if (isPlain(key) && key.name === 'tab') {
      this.#next(current)
      return undefined
    }
    const action = this.#dialogs.key(key, now)
    if (action === undefined) return undefined
    this.#note = ''
    if (action.type === 'leave') return { type: 'quit' }
    this.#answered.add(action.requestId)
    return { type: 'answer', asked: current, answer: action.answer }
  }

  #quits(key: Key): boolean {
    if (isCtrl(key, 'c')) return true
    if (!isPlain(key) || this.#dialogs.takesText) return false
    return key.name === 'q' || (key.name === 'escape' && this.isEmpty)
  }

  /** The rows that are done since the last call. */
  takeFinished({ paint, width }: Frame): string[] {
    const rows = this.#finished.map((row) => paint.dim(cut(`✓ ${oneLine(row)}`, width)))
    this.#finished = []
    return rows
  }

  view(frame: DialogFrame): LiveRows {
    const { paint, width, height } = frame
    const note = this.isDisconnected ? 'The gateway does not answer; reconnecting.' : this.#note
    const notes = [note, silentNote(this.silent) ?? '']
      .filter((text) => text !== '')
      .map((text) => paint.yellow(cut(oneLine(text), width)))
    if (this.isEmpty) return { rows: [...notes, paint.dim(cut('No request waits for you. q quits.', width))] }
    const hint = this.#dialogs.size > 1 ? 'Tab: the next one. q quits; they stay open.' : 'q quits; it stays open.'
    const below = [...notes, paint.dim(cut(`  ${hint}`, width))]
    // A row stays free, so that the first one is not scrolled away.
    const { rows, ...rest } = this.#dialogs.view({ ...frame, height: height - below.length - 1 })
    return { rows: [...rows, ...below], ...rest }
  }

  /** Puts the current one behind the others. */
  #next(current: AskedRequest): void {
    this.#dialogs.remove(current.requestId)
    this.#dialogs.add(current)
  }
}

const isPlain = (key: Key): boolean => key.isPasted !== true && !key.ctrl && !key.meta

const nameOf = ({ session: { label, id } }: AskedRequest): string => label ?? id

/** Who or what answered it elsewhere. */
export function answererText(by: AnsweredBy | undefined): string {
  switch (by?.type) {
    case 'principal':
      return `answered by ${by.name}`
    case 'policy':
      return `answered by ${by.rule}`
    case 'timeout':
      return 'denied: its time was up'
    case 'turn-end':
      return 'cancelled with its turn'
    case 'session-end':
      return 'cancelled with its session'
    case 'gateway-end':
      return 'interrupted: the gateway ended'
    case undefined:
      return 'gone with its session'
  }
}
