import { defined, type Session, type SessionEvent, type Usage } from '@agentproto/contracts'
import { BOUNDS, type RewoundFiles } from '@agentproto/contracts/wire'
import { cut } from '../render/fit.js'
import { Transcript, type TranscriptOptions } from '../render/transcript.js'
import { wrap } from '../render/wrap.js'
import type { AttachAction } from './attach-action.js'
import { commandHint, completeCommand } from './command-completion.js'
import { FinishedRows } from './finished-rows.js'
import { isCtrl, isPastedText, type Key } from './keyboard.js'
import { LineEditor } from './line-editor.js'
import { lineRows, noteRows, searchRow, warningRows } from './line-rows.js'
import type { LiveRows } from './live-area.js'
import { type Leftovers, OutgoingPrompts, type PromptAction, typedText } from './outgoing-prompts.js'
import { ownCommandResult } from './own-command-result.js'
import { type OwnCommandName, readSlashLine } from './own-commands.js'
import { RequestDialogs } from './request-dialogs.js'
import { RewindQuestion } from './rewind-question.js'
import { SessionHost } from './session-host.js'
import { StatusRow } from './status-row.js'

export interface ScreenOptions extends Pick<TranscriptOptions, 'paint' | 'width'> {
  readonly session: Session
  /** Name of the host that is asked, if it is known. */
  readonly ownHost?: string | undefined
  /** Rows of the terminal. */
  readonly height: () => number
}

/** A second Ctrl-C within this time, in milliseconds, detaches. */
const DETACH_MS = 2_000

/** The screen of `sessions --attach`: events and keys in, rows and actions out. It has no terminal and calls nothing. */
export class AttachScreen {
  readonly #options: ScreenOptions
  readonly #transcript: Transcript
  readonly #host: SessionHost
  readonly #status: StatusRow
  readonly #editor = new LineEditor()
  readonly #outgoing = new OutgoingPrompts()
  readonly #dialogs = new RequestDialogs()
  readonly #finished = new FinishedRows()
  readonly #agentsCommands = new Set<string>()
  #question: RewindQuestion | undefined
  #note = ''
  /** The line that the first Ctrl-C cleared. */
  #cleared = ''
  #interruptedAt = -Infinity

  constructor(options: ScreenOptions) {
    this.#options = options
    this.#transcript = new Transcript({ ...options, requestsWhenAnswered: true })
    this.#host = new SessionHost(options.session, options.ownHost)
    this.#status = new StatusRow(options.session, this.#host)
    this.warn(this.#host.loss)
  }

  apply(event: SessionEvent): void {
    this.#finished.add(this.#transcript.apply(event))
    this.#status.apply(event)
    if (this.#outgoing.apply(event) === this.#editor.text && !this.#editor.isEmpty) this.#editor.clear()
    if (event.type === 'user-prompt') this.#editor.remember(typedText(event.content))
    if (event.type === 'agent-prompt') this.#dialogs.add({ ...event, session: this.#options.session })
    if (event.type === 'agent-prompt-resolved') this.#dialogs.remove(event.requestId)
    if (event.type === 'turn-end' || event.type === 'session-stopped') {
      this.#dialogs.clear()
      this.#note = ''
    }
  }

  /** The transcript reports an outage of the gateway and its end, each once. The events that were missed follow. */
  setConnected(isConnected: boolean): void {
    this.warn(this.#host.setConnected(isConnected))
  }

  /** The transcript reports that the host of the session is lost, is back, or is another one, each once. */
  setSession(session: Session): void {
    this.warn(this.#host.setSession(session))
  }

  setUsage(usage: Usage | undefined): void {
    this.#status.setUsage(usage)
  }

  /** An earlier prompt of the session, older than all that the history has. */
  rememberOlder(prompt: string): void {
    this.#editor.rememberOlder(prompt)
  }

  /** Keeps a refused prompt: in its queue, in the line if that is empty, or else in the queue. */
  restorePrompt(text: string): void {
    if (this.#outgoing.failed(text)) return
    if (this.#editor.isEmpty) this.#editor.text = text
    else this.#outgoing.queue.putBack(text)
  }

  /** Asks whether the files shall be set back as the plan says. */
  askRewind(turn: number, { plan, now }: { readonly plan: RewoundFiles; readonly now: number }): void {
    if (plan.changedCount === 0) this.say('Nothing would be changed.')
    else this.#question = new RewindQuestion(turn, { plan, now })
  }

  /** A message that is shown until the next key. */
  note(text: string): undefined {
    this.#note = text
  }

  /** A message that stays in the transcript. */
  say(...texts: readonly string[]): undefined {
    this.#finished.add([
      ...this.#transcript.finishPartial(),
      ...texts.flatMap((text) => wrap(text, this.#options.width())),
    ])
  }

  /** A problem that stays in the transcript. */
  warn(text: string | undefined): void {
    if (text === undefined) return
    const { paint, width } = this.#options
    this.#finished.add([...this.#transcript.finishPartial(), ...warningRows(text, { paint, width: width() })])
  }

  get leftovers(): Leftovers {
    return this.#outgoing.leftovers(this.#editor.text.trim() === '' ? this.#cleared : this.#editor.text)
  }

  /** The queued prompt whose time has come. To be asked for after every change. */
  next(): PromptAction | undefined {
    if (this.#host.unsendable !== undefined || this.#status.isBusy) return undefined
    return this.#outgoing.next()
  }

  key(key: Key, now: number): AttachAction | undefined {
    this.#note = ''
    if (!this.#isForDialog(key)) this.#dialogs.hold(key, now)
    if (isCtrl(key, 'c') && this.#editor.search === undefined) return this.#controlC(now)
    this.#cleared = ''
    if (isCtrl(key, 'd') && this.#editor.isEmpty) return { type: 'detach' }
    if (isCtrl(key, 'o')) return { type: 'log' }
    if (this.#question !== undefined) return this.#answerQuestion(this.#question, { key, now })
    if (this.#isForDialog(key)) {
      const action = this.#dialogs.key(key, now)
      return action?.type === 'answer' ? action : undefined
    }
    return this.#editor.search === undefined ? this.#lineKey(key) : this.#searchKey(key, now)
  }

  #searchKey(key: Key, now: number): AttachAction | undefined {
    const passed = this.#editor.searchKey(key)
    return passed && this.key(passed, now)
  }

  /** The rows that are finished since the last call. */
  takeFinished(): readonly string[] {
    const { paint, width } = this.#options
    return this.#finished.take({ paint, width: width() })
  }

  live(now: number): LiveRows {
    const { paint } = this.#options
    const width = this.#options.width()
    const { partial } = this.#transcript
    const status = this.#status.row({ now, width, paint, hint: this.#hint(width) })
    const queue = this.#outgoing.queue.rows({ paint, width })
    const above = [...(partial === '' ? [] : [partial]), ...this.#noteRows(width), ...queue, status]
    if (this.#question !== undefined) return { rows: [...above, ...this.#question.rows({ paint, width })] }
    if (this.#hasDialog) {
      const height = this.#options.height() - above.length
      const { rows, cursor } = this.#dialogs.view({ paint, width, height, now })
      const moved = cursor && { ...cursor, row: above.length + cursor.row }
      return { rows: [...above, ...rows], ...defined({ cursor: moved }) }
    }
    return lineRows(this.#editor, above, { paint, width, height: this.#options.height() })
  }

  #noteRows(width: number): string[] {
    const { paint } = this.#options
    if (this.#note !== '') return noteRows(this.#note, { paint, width })
    if (this.#editor.search !== undefined) return [searchRow(this.#editor.search, { paint, width })]
    const completion = this.#completion
    return completion === undefined ? [] : [paint.dim(cut(commandHint(completion), width))]
  }

  get #completion(): ReturnType<typeof completeCommand> {
    return this.#editor.startsWith('/') ? completeCommand(this.#editor.text, this.#status) : undefined
  }

  /** Whether a request gets the keys. None does while a line is typed: a key of the line must never answer a request. */
  get #hasDialog(): boolean {
    return !this.#host.isLost && this.#dialogs.size > 0 && this.#editor.isEmpty && this.#editor.search === undefined
  }

  /** Pasted text answers nothing: it becomes the line, unless a form takes it. */
  #isForDialog(key: Key): boolean {
    return this.#hasDialog && this.#question === undefined && (this.#dialogs.takesText || !isPastedText(key))
  }

  #lineKey(key: Key): AttachAction | undefined {
    if (key.name === 'escape') return this.#escape()
    if (key.name === 'pageup') return { type: 'log' }
    if (key.name === 'tab') return this.#complete()
    if (isCtrl(key, 't')) return this.#takeBack()
    if (isCtrl(key, 's')) return this.#steerLine()
    if (isCtrl(key, 'r')) return this.#editor.startSearch()
    if (key.name === 'paste' && this.#editor.length + (key.text ?? '').length > BOUNDS.promptBytes)
      return this.note(`Nothing was pasted: a prompt has at most ${BOUNDS.promptBytes / 2 ** 20} MiB.`)
    const line = this.#editor.key(key)
    return line === undefined ? undefined : this.#submit(line)
  }

  #answerQuestion(
    question: RewindQuestion,
    pressed: { readonly key: Key; readonly now: number },
  ): AttachAction | undefined {
    const answer = question.key(pressed.key, pressed.now)
    if (answer === undefined) return undefined
    this.#question = undefined
    if (answer === 'leave') return this.note('The files stay as they are.')
    return { type: 'rewind', turn: question.turn, ...defined({ checkpoint: question.plan.to.checkpoint }) }
  }

  #escape(): AttachAction | undefined {
    if (!this.#status.isBusy || this.#host.isLost) return undefined
    this.#note = 'Interrupting; your line and the queue stay.'
    return { type: 'interrupt' }
  }

  #complete(): undefined {
    const completion = this.#completion
    if (completion !== undefined) this.#editor.text = completion.text
  }

  #takeBack(): undefined {
    if (!this.#editor.isEmpty) return this.note('Send or clear your line first: the queued prompt is put there.')
    const prompt = this.#outgoing.queue.takeBack()
    if (prompt === undefined) this.#note = 'Nothing is queued.'
    else this.#editor.text = prompt
  }

  #steerLine(): AttachAction | undefined {
    const line = this.#editor.text
    this.#editor.remember(line)
    this.#editor.clear()
    return this.#steer(line)
  }

  /** Sends this, or else the first queued prompt, and interrupts a running turn for it. */
  #steer(line: string): AttachAction | undefined {
    if (this.#host.unsendable !== undefined) return this.#keep(line, `${this.#host.unsendable}; your line is kept.`)
    if (this.#outgoing.isSending) return this.#keep(line, 'The last prompt is on its way; your line is kept.')
    this.#outgoing.queue.release()
    const text = line.trim() === '' ? this.#outgoing.queue.next() : line
    if (text === undefined) return this.note('There is nothing to send.')
    return this.#status.isBusy ? this.#outgoing.steer(text) : this.#outgoing.send(text)
  }

  #controlC(now: number): AttachAction | undefined {
    const isSecond = now - this.#interruptedAt <= DETACH_MS
    this.#interruptedAt = now
    this.#question = undefined
    if (isSecond) return { type: 'detach' }
    if (this.#status.isBusy && !this.#host.isLost) {
      this.#note = 'Interrupting; Ctrl-C again detaches, and the session keeps running.'
      return { type: 'interrupt' }
    }
    this.#cleared = this.#editor.text
    this.#editor.remember(this.#cleared)
    this.#editor.clear()
    const kept = this.#cleared === '' ? 'the session keeps running.' : '↑ brings your line back.'
    return this.note(`Ctrl-C again detaches; ${kept}`)
  }

  #submit(line: string): AttachAction | undefined {
    if (line.trim() === '') return this.#submitQueue()
    const slash = readSlashLine(line.trimEnd(), this.#status.config.commands ?? [])
    if (slash?.kind === 'own') return this.#run(line, slash)
    if (slash?.kind === 'agents') this.#sayOnce(slash.name)
    if (this.#host.unsendable !== undefined) return this.#keep(line, `${this.#host.unsendable}; your line is kept.`)
    if (!this.#status.isBusy && !this.#outgoing.isSending) return this.#outgoing.send(line)
    if (this.#outgoing.queue.add(line)) return undefined
    return this.#keep(line, 'The queue is full; your line is kept.')
  }

  /** Enter on an empty line sends a queue that waits for it. */
  #submitQueue(): AttachAction | undefined {
    if (!this.#outgoing.queue.isHeld) return undefined
    if (this.#host.unsendable !== undefined) return this.note(`${this.#host.unsendable}; the queue is kept.`)
    this.#outgoing.queue.release()
    return this.next()
  }

  #keep(line: string, why: string): undefined {
    this.#editor.text = line
    this.#note = why
  }

  /** Once for each command: both have it, and the agent's was sent. */
  #sayOnce(name: string): void {
    if (this.#agentsCommands.has(name)) return
    this.#agentsCommands.add(name)
    this.warn(`The agent has a command /${name}, which was sent to it. Ours is //${name}.`)
  }

  #run(
    line: string,
    { name, argument }: { readonly name: OwnCommandName; readonly argument: string },
  ): AttachAction | undefined {
    if (name === 'steer') return this.#steer(argument)
    const result = ownCommandResult(name, argument, this.#status)
    if ('action' in result) return result.action
    return 'say' in result ? this.say(...result.say) : this.#keep(line, result.refused)
  }

  #hint(width: number): string {
    const hasLine = !this.#editor.isEmpty
    if (this.#dialogs.size > 0 && hasLine && !this.#host.isLost) return 'Ctrl-U clears your line, then answer'
    if (!this.#host.isConnected) return 'reconnecting'
    // Escape goes back within the request.
    return this.#hasDialog ? 'Ctrl-C interrupts' : this.#status.hint(hasLine, width)
  }
}
