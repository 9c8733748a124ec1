import type { AgentRequest, QuestionRequest } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { FieldInput } from './field-input.js'
import type { Key } from './keyboard.js'
import type { LiveRows } from './live-area.js'
import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { requestTitle, toolSubject } from '../render/request-title.js'
import { choicesOf, type Choice } from '../requests/choices.js'
import { fieldHint, fieldsOf, type Field } from '../requests/question-form.js'

/** A request of an agent as a dialog: keys in, an answer out. */
export interface RequestDialog {
  key(key: Key): AnswerRequest | undefined
  /** The cursor, if any, is where text is typed. */
  view(frame: Frame): LiveRows
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
  readonly #input: FieldInput
  #at = 0

  /** @param request One with at least one field */
  constructor(request: QuestionRequest) {
    this.#request = request
    this.#fields = fieldsOf(request.schema)
    this.#input = new FieldInput(this.#fields[0] as Field)
  }

  key(key: Key): AnswerRequest | undefined {
    if (key.name === 'escape') return { action: 'decline' }
    const read = this.#input.key(key)
    if (read === undefined) return undefined
    if (read.value !== undefined) this.#content[this.#input.field.name] = read.value
    const next = this.#fields[++this.#at]
    if (next === undefined) return { action: 'accept', content: this.#content }
    this.#input.field = next
    return undefined
  }

  view({ paint, width }: Frame): LiveRows {
    const { field, problem } = this.#input
    const label = `  ${oneLine(field.title)}: `
    const { text, column } = this.#input.view(Math.max(10, width - label.length))
    const steps = this.#fields.length > 1 ? ` (${this.#at + 1}/${this.#fields.length})` : ''
    const hint = [problem, field.description ?? '', fieldHint(field), 'Esc declines'].filter(Boolean).join(' · ')
    return {
      rows: [
        paint.yellow(cut(`? ${requestTitle(this.#request)}${steps}`, width)),
        (problem === '' ? paint.dim : paint.red)(cut(`  ${oneLine(hint)}`, width)),
        paint.bold(label) + text,
      ],
      cursor: { row: 2, column: label.length + column },
    }
  }
}
