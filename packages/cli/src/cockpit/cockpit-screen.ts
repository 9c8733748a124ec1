import type { Session, SessionRequest } from '@agentproto/contracts'
import type { SessionChange, SessionFilter } from '@agentproto/contracts/wire'
import { isCtrl, isPastedText, type Key } from '../attach/keyboard.js'
import type { LineEditor } from '../attach/line-editor.js'
import type { LiveRows } from '../attach/live-area.js'
import { RequestDialogs } from '../attach/request-dialogs.js'
import { columnsOf, cut } from '../render/fit.js'
import { oneLine } from '../render/printable.js'
import { nextKey, orderMark, type SessionOrder } from '../render/session-order.js'
import { sessionName } from '../render/session-text.js'
import { wrap } from '../render/wrap.js'
import { type CockpitAction, type Command, COMMANDS, killing, MOVES, problemWith } from './cockpit-command.js'
import { cockpitHelp, HINTS, QUIT } from './cockpit-keys.js'
import { type Confirmation, ConfirmDialog } from './confirm-dialog.js'
import { ScrollView } from './scroll-view.js'
import { type ListFrame, SessionList } from './session-list.js'
import { countsLine } from './counts-line.js'
import { editorWith, type PromptLine, type TypedLine } from './typed-line.js'

export interface CockpitOptions {
  readonly order: SessionOrder
  /** Which sessions are listed, at a time in milliseconds; `all`: also those that ended long ago. */
  readonly filterAt: (now: number, all: boolean) => SessionFilter
  readonly all: boolean
}

/** What covers the list. */
type Cover =
  | { readonly type: 'text'; readonly view: ScrollView }
  | { readonly type: 'questions'; readonly session: Session; readonly ids: readonly string[] }
  | { readonly type: 'confirm'; readonly dialog: ConfirmDialog; readonly action: CockpitAction }

/**
 * The screen of `sessions --watch`: changes and keys in, rows and actions out. It has no terminal and calls nothing. A key acts
 * on the session that was drawn as selected, never on one that took its place since.
 */
export class CockpitScreen {
  readonly list: SessionList
  readonly #dialogs = new RequestDialogs()
  #isAll: boolean
  #cover: Cover | undefined
  #line: TypedLine | undefined
  #note = ''
  #isDisconnected = false

  constructor({ order, filterAt, all }: CockpitOptions) {
    this.#isAll = all
    this.list = new SessionList({ order, filterAt: (now) => filterAt(now, this.#isAll) })
  }

  /** The session whose questions are open. */
  get asked(): Session | undefined {
    return this.#cover?.type === 'questions' ? this.#cover.session : undefined
  }

  apply(change: SessionChange): void {
    if (change.type === 'forgotten') this.list.forget(change.id)
    else this.list.put(change.session)
  }

  setConnected(isConnected: boolean): void {
    this.#isDisconnected = !isConnected
  }

  /** A message that is shown until the next key. */
  note(text: string): void {
    this.#note = text
  }

  /** Opens the questions of a session, unless something else was opened since they were asked for. */
  openQuestions(session: Session, pending: readonly SessionRequest[]): void {
    if (this.asked?.id === session.id) return this.updateQuestions(session, pending)
    if (!this.#isFree) return
    this.#dialogs.clear()
    if (pending.length === 0) this.#note = `${sessionName(session)} asks nothing.`
    else this.#replaceQuestions(session, pending)
  }

  /** Replaces the questions of a session while they are open; without any they close. A person may have left them. */
  updateQuestions(session: Session, pending: readonly SessionRequest[]): void {
    if (this.asked?.id === session.id) this.#replaceQuestions(session, pending)
  }

  /** One that is open already stays as it is. */
  #replaceQuestions(session: Session, pending: readonly SessionRequest[]): void {
    const before = this.#cover?.type === 'questions' ? this.#cover.ids : []
    for (const id of before) if (!pending.some(({ requestId }) => requestId === id)) this.#dialogs.remove(id)
    for (const request of pending) if (!before.includes(request.requestId)) this.#dialogs.add({ ...request, session })
    const ids = pending.map(({ requestId }) => requestId)
    this.#cover = ids.length === 0 ? undefined : { type: 'questions', session, ids }
  }

  /** Opens a text to read. */
  showText(view: ScrollView): void {
    if (this.#isFree) this.#cover = { type: 'text', view }
  }

  /** Asks before an action. */
  confirm(
    confirmation: Confirmation,
    action: CockpitAction,
    opener: { readonly key: Key; readonly now: number },
  ): void {
    if (this.#isFree) this.#cover = { type: 'confirm', dialog: new ConfirmDialog(confirmation, opener), action }
  }

  /** Puts a refused prompt back into the line, unless something else is open by now. */
  restorePrompt(session: Session, text: string): void {
    if (!this.#isFree) return
    this.#line = { type: 'prompt', editor: editorWith(text), session }
  }

  key(key: Key, now: number): CockpitAction | undefined {
    this.#note = ''
    if (this.#cover !== undefined) return this.#coverKey(this.#cover, key, now)
    if (this.#line !== undefined) return this.#lineKey(this.#line, key)
    // Pasted text is for a line; its letters are no commands.
    if (isPastedText(key) || (key.isPasted === true && key.name === 'return')) return undefined
    if (isCtrl(key, 'c')) return { type: 'quit' }
    // Node reports an Escape as one with Alt.
    return key.ctrl || (key.meta && key.name !== 'escape') ? undefined : this.#listKey(key, now)
  }

  view(frame: ListFrame): LiveRows {
    // The last row of a terminal stays free: a row that is written there can scroll the screen.
    const whole = { ...frame, height: Math.max(4, frame.height - 1) }
    const cover = this.#cover
    if (cover === undefined) return this.#listView(whole)
    if (cover.type === 'questions') return this.#dialogs.view(whole)
    return { rows: cover.type === 'text' ? cover.view.view(whole) : cover.dialog.view(whole) }
  }

  /** Whether the list has the keys: what was asked for may come when something else is open. */
  get #isFree(): boolean {
    return this.#cover === undefined && this.#line === undefined
  }

  #coverKey(cover: Cover, key: Key, now: number): CockpitAction | undefined {
    switch (cover.type) {
      case 'text':
        if (cover.view.key(key)) this.#cover = undefined
        return undefined
      case 'confirm': {
        const said = cover.dialog.key(key, now)
        if (said !== undefined) this.#cover = undefined
        return said === 'yes' ? cover.action : undefined
      }
      case 'questions':
        return this.#questionKey(cover.session, key, now)
    }
  }

  #questionKey(session: Session, key: Key, now: number): CockpitAction | undefined {
    const action = isCtrl(key, 'c') ? LEAVE : this.#dialogs.key(key, now)
    if (action?.type === 'leave') this.#cover = undefined
    return action?.type === 'answer' ? { ...action, session } : undefined
  }

  #lineKey(line: TypedLine, key: Key): CockpitAction | undefined {
    if (key.name === 'escape' || isCtrl(key, 'c')) {
      this.#line = undefined
      if (line.type === 'filter') this.list.text = ''
      return undefined
    }
    return line.type === 'filter' ? this.#filterKey(line.editor, key) : this.#promptKey(line, key)
  }

  #filterKey(editor: LineEditor, key: Key): undefined {
    if (key.name === 'up' || key.name === 'down') {
      this.list.move(key.name === 'up' ? -1 : 1)
      return
    }
    const text = editor.key(key)
    this.list.text = text ?? editor.text
    if (text !== undefined) this.#line = undefined
  }

  #promptKey({ editor, session }: PromptLine, key: Key): CockpitAction | undefined {
    const text = editor.key(key)
    if (text === undefined) return undefined
    this.#line = undefined
    return text.trim() === '' ? undefined : { type: 'prompt', session, text }
  }

  #listKey(key: Key, now: number): CockpitAction | undefined {
    // A letter by what it types: the name of K is k.
    const pressed = /^\S$/u.test(key.text ?? '') ? (key.text ?? '') : (key.name ?? '')
    const move = MOVES[pressed]
    if (move !== undefined) {
      move(this.list)
      return undefined
    }
    const own = this.#viewKeys[pressed]
    if (own !== undefined) return own()
    const command = COMMANDS[pressed]
    return command === undefined ? undefined : this.#command(command, key, now)
  }

  /** Keys that change what is shown. */
  get #viewKeys(): Readonly<Record<string, () => CockpitAction | undefined>> {
    return {
      q: () => ({ type: 'quit' }),
      escape: () => this.#escape(),
      tab: () => this.#nextWaiting(),
      '/': () => this.#open({ type: 'filter', editor: editorWith(this.list.text) }),
      g: () => this.#arrange((list) => (list.grouping = list.nextGrouping)),
      s: () => this.#arrange((list) => (list.order = nextKey(list.order))),
      r: () => this.#arrange((list) => (list.order = { ...list.order, isReversed: !list.order.isReversed })),
      e: () => this.#toggleAll(),
      '?': () => this.#help(),
    }
  }

  #escape(): CockpitAction | undefined {
    if (this.list.text === '') return { type: 'quit' }
    this.list.text = ''
    return undefined
  }

  #nextWaiting(): undefined {
    if (!this.list.moveToWaiting()) this.#note = 'No session of this list waits for you.'
  }

  #open(line: TypedLine): undefined {
    this.#line = line
  }

  #arrange(change: (list: SessionList) => unknown): undefined {
    change(this.list)
  }

  #help(): undefined {
    this.#cover = { type: 'text', view: new ScrollView('Keys of the list', cockpitHelp) }
  }

  #toggleAll(): undefined {
    this.#isAll = !this.#isAll
    this.list.refilter()
  }

  /** Keys that are about the selected session. */
  #command(command: Command, key: Key, now: number): CockpitAction | undefined {
    const session = this.list.selected
    const problem = session === undefined ? 'No session is selected.' : problemWith(command, session)
    this.#note = problem ?? ''
    if (session === undefined || problem !== undefined) return undefined
    switch (command) {
      case 'prompt':
        return this.#open({ type: 'prompt', editor: editorWith(''), session })
      case 'kill':
        this.confirm(killing(session), { type: 'kill', session }, { key, now })
        return undefined
      case 'ask':
        this.#dialogs.hold(key, now)
        return { type: 'ask', session }
      case 'attach':
      case 'diff':
      case 'interrupt':
      case 'propose-merge':
        return { type: command, session }
    }
  }

  #listView(frame: ListFrame): LiveRows {
    const { paint, width, height } = frame
    const line = this.#lineRow(frame)
    const note = this.#noteRows(frame)
    const { rows, place, counts } = this.list.view({ ...frame, height: height - 2 - Math.max(1, note.length) })
    const head = countsLine({ states: counts.states, place, width, paint })
    const below = line === undefined ? this.#hint(frame) : line.row
    const all = [head, ...rows, ...(note.length === 0 ? [this.#footer(frame, counts.hidden)] : note), below]
    return line === undefined ? { rows: all } : { rows: all, cursor: { row: all.length - 1, column: line.column } }
  }

  #lineRow({ paint, width }: ListFrame): { readonly row: string; readonly column: number } | undefined {
    const line = this.#line
    if (line === undefined) return undefined
    const title = cut(line.type === 'filter' ? 'Filter' : `Prompt to ${sessionName(line.session)}`, width >> 1)
    const start = `${title} ❯ `
    const { text, column } = line.editor.view(width - columnsOf(start))
    return { row: paint.bold(start) + text, column: columnsOf(start) + column }
  }

  /** An error says at its end what to do: it gets more than one row. */
  #noteRows({ paint, width }: ListFrame): readonly string[] {
    const text = this.#isDisconnected ? 'The gateway does not answer; reconnecting. q quits.' : this.#note
    if (text === '') return []
    return wrap(oneLine(text), width)
      .slice(0, MAX_NOTE_ROWS)
      .map((row) => paint.yellow(row))
  }

  #footer({ paint, width }: ListFrame, hidden: number): string {
    const filter = this.list.text === '' ? [] : [`filter: ${this.list.text} (Esc shows all)`]
    const ended = hidden === 0 ? [] : [`${hidden} ended hidden: e shows them`]
    return paint.dim(cut([...filter, ...ended].join(' · '), width))
  }

  #hint({ paint, width }: ListFrame): string {
    const { order, grouping } = this.list
    const sorted = `s r sort (${order.key} ${orderMark(order)})`
    const all = [...HINTS, sorted, `g group (${grouping})`]
    const fitting = all.map((_, index) => [...all.slice(0, all.length - index), QUIT].join(' · '))
    return paint.dim(cut(fitting.find((text) => columnsOf(text) <= width) ?? QUIT, width))
  }
}

const MAX_NOTE_ROWS = 4
const LEAVE = { type: 'leave' } as const
