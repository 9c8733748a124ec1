import { fieldsOf, listOf, textOf } from './field.js'
import type { RuleContext } from './parse-manifest.js'

/** Refuses a second entry with the same id (or another key) in a list of the document. */
export function uniqueIds({ document, problems, at }: RuleContext, list: string, key = 'id'): void {
  const seen = new Set<string>()
  listOf(fieldsOf(document)[list]).forEach((entry, index) => {
    const id = textOf(fieldsOf(entry)[key])
    if (id === undefined) return
    if (seen.has(id)) {
      problems.error('id_duplicate', at(list, index, key), {
        message: `\`${list}\` holds the ${key} ${id} twice.`,

        expected: 'a unique id',
        given: id,
      })
    }
    seen.add(id)
  })
}
