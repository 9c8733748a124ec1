import type { FormField } from '@agentproto/contracts'
import { exactLine } from '../render/exact.js'
import { columnsOf, cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { fieldHint } from '../requests/question-form.js'
import { FieldInput } from './field-input.js'
import type { Key } from './keyboard.js'

/** The fields of a question, typed one after the other. */
export class FormInput {
  readonly #fields: readonly [FormField, ...FormField[]]
  readonly #input: FieldInput
  readonly #content: Record<string, unknown> = {}
  #at = 0

  constructor(fields: readonly [FormField, ...FormField[]]) {
    this.#fields = fields
    this.#input = new FieldInput(fields[0])
  }

  get isLast(): boolean {
    return this.#at === this.#fields.length - 1
  }

  /** What to type now, or what is wrong with what was typed. */
  get hint(): string {
    const { field, problem } = this.#input
    return exactLine([problem, field.description ?? '', fieldHint(field), 'Esc declines'].filter(Boolean).join(' · '))
  }

  /** @returns the content of all fields when the last one was submitted */
  key(key: Key): Readonly<Record<string, unknown>> | undefined {
    const read = this.#input.key(key)
    if (read === undefined) return undefined
    if (read.value !== undefined) this.#content[this.#input.field.name] = read.value
    const next = this.#fields[++this.#at]
    if (next === undefined) return this.#content
    this.#input.field = next
    return undefined
  }

  view({ paint, width }: Frame): { readonly row: string; readonly column: number } {
    const steps = this.#fields.length > 1 ? `${this.#at + 1}/${this.#fields.length} ` : ''
    const label = `  ${cut(`${steps}${exactLine(this.#input.field.title)}`, Math.max(8, width >> 1))}: `
    const { text, column } = this.#input.view(Math.max(10, width - columnsOf(label)))
    return { row: paint.bold(label) + text, column: columnsOf(label) + column }
  }
}
