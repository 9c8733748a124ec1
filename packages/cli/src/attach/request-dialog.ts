import type { AgentRequest, QuestionRequest } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { LineEditor } from './line-editor.js'
import type { Key } from './key.js'
import { cut } from '../render/fit.js'
import type { Paint } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { requestTitle, toolSubject } from '../render/request-title.js'
import { choicesOf, type Choice } from '../requests/choices.js'
import { fieldHint, fieldsOf, readField, type Field } from '../requests/question-form.js'

export interface DialogFrame {
  readonly paint: Paint
  readonly width: number
}
export interface DialogView {
  readonly rows: readonly string[]
  /** Column of the cursor in the last row, for typed input. */
  readonly column?: number
}

/** A request of an agent as a dialog: keys in, an answer out. */
export interface RequestDialog {
  key(key: Key): AnswerRequest | undefined
  view(frame: DialogFrame): DialogView
}

export function requestDialog(request: AgentRequest): RequestDialog {
  const choices = choicesOf(request)
  return choices === undefined ? new FormDialog(request as QuestionRequest) : choiceDialog(request, choices)
}

function choiceDialog(request: AgentRequest, choices: readonly Choice[]): RequestDialog {
  return {
    key: ({ text = '', ctrl, meta }) =>
      ctrl || meta ? undefined : choices.find(({ keys }) => keys.includes(text.toLowerCase()))?.answer,
    view({ paint, width }) {
      const subject = request.kind === 'permission' ? toolSubject(request.toolCall) : request.url
      const options = choices.map(({ keys, label }) => `[${keys[0] ?? ''}] ${oneLine(label)}`)
      return {
        rows: [
          paint.yellow(cut(`? ${requestTitle(request)}`, width)),
          ...(subject === undefined ? [] : [cut(`  ${oneLine(subject)}`, width)]),
          paint.bold(cut(`  ${options.join('   ')}`, width)),
        ],
      }
    },
  }
}

/** A form, one field at a time. Escape declines it. */
class FormDialog implements RequestDialog {
  readonly #request: QuestionRequest
  readonly #fields: readonly Field[]
  readonly #content: Record<string, unknown> = {}
  readonly #editor = new LineEditor()
  #at = 0
  #problem = ''

  constructor(request: QuestionRequest) {
    this.#request = request
    this.#fields = fieldsOf(request.schema)
  }

  key(key: Key): AnswerRequest | undefined {
    if (key.name === 'escape') return { action: 'decline' }
    const typed = this.#editor.key(key)
    const field = this.#fields[this.#at]
    if (typed === undefined || field === undefined) return undefined
    const read = readField(field, typed)
    this.#problem = 'problem' in read ? read.problem : ''
    if ('problem' in read) return undefined
    if (read.value !== undefined) this.#content[field.name] = read.value
    this.#at += 1
    return this.#at < this.#fields.length ? undefined : { action: 'accept', content: this.#content }
  }

  view({ paint, width }: DialogFrame): DialogView {
    const field = this.#fields[this.#at]
    if (field === undefined) return { rows: [] }
    const label = `  ${oneLine(field.title)}: `
    const { text, column } = this.#editor.view(Math.max(10, width - label.length))
    const steps = this.#fields.length > 1 ? ` (${this.#at + 1}/${this.#fields.length})` : ''
    const hint = [this.#problem, field.description ?? '', fieldHint(field), 'Esc declines'].filter(Boolean).join(' · ')
    return {
      rows: [
        paint.yellow(cut(`? ${requestTitle(this.#request)}${steps}`, width)),
        (this.#problem === '' ? paint.dim : paint.red)(cut(`  ${oneLine(hint)}`, width)),
        paint.bold(label) + text,
      ],
      column: label.length + column,
    }
  }
}
