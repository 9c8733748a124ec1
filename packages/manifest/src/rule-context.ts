import { asList, asRecord, asString } from '@agentproto/contracts'
import { nearest } from './nearest.js'
import type { ProblemList } from './problem.js'

/** What a rule sees: the document as YAML gave it, and a way to report a problem at a place in it. */
export interface RuleContext {
  /** May be invalid in any part: rules run even if the schema refuses the document, so that all problems are reported. */
  readonly document: unknown
  readonly path: string
  readonly problems: ProblemList
  /** Offset of the value at a path, or of the last part of the path that exists. */
  at(...path: Path): number
  /** Offset of the key at a path. */
  keyAt(...path: Path): number
}

export type Path = readonly (string | number)[]
export type Fields = Readonly<Record<string, unknown>>

/** The value at a path; `undefined` where there is none. */
export const valueAt = (document: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) => (typeof step === 'number' ? asList(value)[step] : asRecord(value)[step]),
    document,
  )

export const integerOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) ? value : undefined

/** Refuses a second entry with the same id (or another key) in a list of the document. */
export function uniqueIds({ document, problems, at }: RuleContext, list: string, key = 'id'): void {
  const seen = new Set<string>()
  asList(asRecord(document)[list]).forEach((entry, index) => {
    const id = asString(asRecord(entry)[key])
    if (id === undefined) return
    if (seen.has(id)) {
      problems.error('id_duplicate', at(list, index, key), {
        message: `\`${list}\` contains the ${key} ${id} twice.`,
        expected: `a ${key} that no other entry has`,
        given: id,
      })
    }
    seen.add(id)
  })
}

export interface StrayKeys {
  readonly known: readonly string[]
  /** See `nearest`. */
  readonly most?: number | undefined
}

/** Unknown keys are allowed here, but a key that is almost a known one is a typing error. */
export function strayKeyRule({ document, problems, keyAt }: RuleContext, path: Path, { known, most }: StrayKeys): void {
  for (const key of Object.keys(asRecord(valueAt(document, path)))) {
    const suggestion = known.includes(key) ? undefined : nearest(key, known, most)
    if (suggestion === undefined) continue
    const message = `The key \`${[...path, key].join('.')}\` has no effect.`
    problems.warn('key_unknown', keyAt(...path, key), {
      message,
      expected: `one of ${known.join(', ')}`,
      given: key,
      suggestion,
    })
  }
}
