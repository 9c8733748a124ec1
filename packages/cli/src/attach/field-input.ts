import type { FormField } from '@agentproto/contracts'
import { readField } from '../requests/question-form.js'
import type { Key } from './keyboard.js'
import { LineEditor } from './line-editor.js'

/** The line in which the value of a field is typed. */
export class FieldInput {
  field: FormField
  /** What is wrong with the last submitted text; empty when nothing is. */
  problem = ''
  readonly #editor = new LineEditor()

  constructor(field: FormField) {
    this.field = field
  }

  /** Handles one key. @returns the value when a valid one was submitted */
  key(key: Key): { readonly value: unknown } | undefined {
    const typed = this.#editor.key(key)
    if (typed === undefined) return undefined
    const read = readField(this.field, typed)
    this.problem = 'problem' in read ? read.problem : ''
    return 'value' in read ? read : undefined
  }

  view(width: number): ReturnType<LineEditor['view']> {
    return this.#editor.view(width)
  }
}
