import { formFields, hasSecondStep, type QuestionRequest } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { exactLine, wrapExact } from '../render/exact.js'
import { columnsOf, cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { type AskedRequest, isWhole, requestContent, requestHeading } from '../render/request-content.js'
import { choicesOf, type KeyedChoice } from '../requests/choices.js'
import { ContentWindow } from './content-window.js'
import { FormInput } from './form-input.js'
import { type KeyGuard, REFUSAL_TEXT } from './key-guard.js'
import type { Key } from './keyboard.js'
import type { LiveRows } from './live-area.js'

/** Where and when a dialog is drawn: in at most `height` rows, at `now` in milliseconds. */
export interface DialogFrame extends Frame {
  readonly height: number
  readonly now: number
}

/** What a key makes of a request: an answer; or it stays open and the caller shows something else. */
export type DialogResult = { readonly answer: AnswerRequest } | { readonly leave: true }

/**
 * One request of an agent, with all that is decided: keys in, an answer out. It is answered only by a key that was pressed
 * for it, and allowed only when its end was shown. *Always* needs a second key, below what it covers.
 */
export class RequestDialog {
  readonly #asked: AskedRequest
  readonly #guard: KeyGuard
  readonly #choices: readonly KeyedChoice[]
  readonly #form: FormInput | undefined
  readonly #window = new ContentWindow()
  #content: { readonly rows: readonly string[]; readonly frame: Frame } | undefined
  /** The choices of a second key, while they are shown. */
  #second:
    | { readonly choice: KeyedChoice; readonly leads: readonly KeyedChoice[]; readonly window: ContentWindow }
    | undefined
  #isShown = false
  #note = ''

  constructor(asked: AskedRequest, guard: KeyGuard) {
    this.#asked = asked
    this.#guard = guard
    const { request } = asked
    this.#form = request.kind === 'question' ? formOf(request) : undefined
    this.#choices = choicesOf(asked)
  }

  /** Whether text is typed into it now. */
  get takesText(): boolean {
    return this.#form !== undefined && this.#second === undefined
  }

  /** Something else had the keys: they count again when it has been shown for a while. */
  hide(): void {
    this.#isShown = false
  }

  key(key: Key, now: number): DialogResult | undefined {
    if (!this.#isShown) return undefined
    if ((this.#second?.window ?? this.#window).key(key)) {
      this.#note = ''
      return undefined
    }
    if (this.#form === undefined || !this.takesText || key.name === 'escape') return this.#choiceKey(key, now)
    return this.#formKey(this.#form, key, now)
  }

  /** @param place Which of how many questions it is */
  view(frame: DialogFrame, place = ''): LiveRows {
    if (!this.#isShown) this.#guard.restart(frame.now)
    this.#isShown = true
    const { paint, width, height } = frame
    const head = paint.yellow(
      cut(`? ${this.#second?.choice.text ?? requestHeading(this.#asked.request)}${place}`, width),
    )
    const answers = this.#answerRows(frame)
    const content = this.#contentRows(frame)
    // Answers that leave no room for what is decided are scrolled with it.
    const isTight = answers.length > Math.max(4, (height - 2) / 2)
    const below = isTight ? [] : answers
    const room = Math.max(2, height - below.length - 2)
    const window = this.#second?.window ?? this.#window
    const above = window.show(isTight ? [...content, '', ...answers] : content, { room, width })
    const rows = [head, ...above, ...below, paint.dim(cut(`  ${this.#hint(frame.now)}`, width))]
    if (this.#form === undefined || !this.takesText) return { rows }
    const input = this.#form.view(frame)
    return { rows: [...rows, input.row], cursor: { row: rows.length, column: input.column } }
  }

  /** The rows that are decided about, wrapped once for each width. */
  #contentRows({ paint, width }: DialogFrame): readonly string[] {
    if (this.#second !== undefined) return this.#secondRows({ paint, width })
    if (this.#content?.frame.width !== width)
      this.#content = { rows: requestContent(this.#asked, { paint, width }), frame: { paint, width } }
    return this.#content.rows
  }

  #secondRows(frame: Frame): string[] {
    return (this.#second?.leads ?? []).flatMap((choice) => [...choiceRows(choice, frame), ''])
  }

  #answerRows(frame: DialogFrame): string[] {
    if (this.#second !== undefined) return [frame.paint.bold('  [Esc] Back')]
    if (this.#form !== undefined) return []
    return this.#choices.flatMap((choice) => choiceRows(choice, frame))
  }

  #hint(now: number): string {
    if (this.#note !== '') return this.#note
    if (!this.#guard.isReady(now)) return 'Read first: keys count in a moment.'
    if (!isWhole(this.#asked)) return 'Not shown whole, so it cannot be allowed here.'
    if (!this.#window.isRead) return 'It can be allowed when you have seen its end.'
    return this.#form !== undefined && this.takesText ? this.#form.hint : 'Press one key.'
  }

  #formKey(form: FormInput, key: Key, now: number): DialogResult | undefined {
    const isEnter = key.name === 'return' || key.name === 'enter'
    const refusal = this.#guard.refusal(key, now)
    // A value may be pasted; it never submits.
    this.#note = refusal !== undefined && (isEnter || refusal !== 'pasted') ? REFUSAL_TEXT[refusal] : ''
    if (this.#note !== '') return undefined
    if (isEnter && form.isLast && !this.#mayAllow()) return undefined
    const content = form.key(key)
    return content && { answer: { action: 'accept', content } }
  }

  #choiceKey(key: Key, now: number): DialogResult | undefined {
    if (key.name === 'escape' && key.isPasted !== true) return this.#escape(now)
    const refusal = this.#guard.refusal(key, now)
    this.#note = refusal === undefined ? '' : REFUSAL_TEXT[refusal]
    if (refusal !== undefined || key.ctrl || key.meta) return undefined
    const choice = choiceOf(this.#second?.leads ?? this.#choices, key.text ?? '')
    if (choice !== undefined) return this.#choose(choice, now)
    // Somebody who types a text without looking must not come by the keys of a rule.
    this.#guard.typed(now)
    this.#close(now)
    return undefined
  }

  #choose(choice: KeyedChoice, now: number): DialogResult | undefined {
    const { leads } = choice
    if (hasSecondStep(leads)) {
      this.#open(choice, leads, now)
      return undefined
    }
    return choice.isPositive && !this.#mayAllow() ? undefined : { answer: leads }
  }

  #mayAllow(): boolean {
    if (isWhole(this.#asked) && this.#window.isRead) return true
    this.#note = isWhole(this.#asked)
      ? 'Scroll to the end before you allow it: PgDn.'
      : 'It was not shown whole. Deny it, or ask for less.'
    return false
  }

  /** Escape goes one step back; from a form, to the choice of declining it. */
  #escape(now: number): DialogResult | undefined {
    this.#note = ''
    if (this.#second === undefined && this.#form !== undefined) {
      const decline: KeyedChoice = {
        keys: ['n'],
        text: 'Decline the question',
        isPositive: false,
        leads: { action: 'decline' },
      }
      this.#open({ ...decline, text: 'Decline it?' }, [decline], now)
      return undefined
    }
    if (this.#second === undefined) return { leave: true }
    const wasForm = this.#form !== undefined
    this.#close(now)
    return wasForm ? { leave: true } : undefined
  }

  #open(choice: KeyedChoice, leads: readonly KeyedChoice[], now: number): void {
    this.#second = { choice, leads, window: new ContentWindow() }
    this.#guard.restart(now)
  }

  #close(now: number): void {
    if (this.#second !== undefined) this.#guard.restart(now)
    this.#second = undefined
  }
}

function formOf(request: QuestionRequest): FormInput | undefined {
  const fields = request.mode === 'form' ? formFields(request.schema) : []
  const [first, ...others] = fields
  return first === undefined ? undefined : new FormInput([first, ...others])
}

/** A key in the wrong case is meant, too, unless the other case means something else. */
const choiceOf = (choices: readonly KeyedChoice[], text: string): KeyedChoice | undefined =>
  choices.find(({ keys }) => keys.includes(text)) ?? choices.find(({ keys }) => keys.includes(text.toLowerCase()))

/** One answer: its key, our word for it, and the agent's name for it; below what is a sentence, on a row of its own. */
function choiceRows({ keys, text, name, leads }: KeyedChoice, { paint, width }: Frame): string[] {
  const key = `  [${keys[0] ?? ''}] `
  const label = text + (hasSecondStep(leads) ? ' …' : '')
  const own = name === undefined ? '' : exactLine(name)
  const lines = !text.endsWith('.')
    ? [own === '' ? label : `${label}: ${own}`]
    : [label, ...(own === '' ? [] : [`The agent calls it: ${own}`])]
  const rows = lines.flatMap((line) => wrapExact(line, width - columnsOf(key)))
  return rows.map((row, index) => paint.bold((index === 0 ? key : ' '.repeat(key.length)) + row))
}
