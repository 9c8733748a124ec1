/** Reading of values that the schema may have refused: rules run beside it, so that all problems come at once. */

export type Fields = Readonly<Record<string, unknown>>

/** The value as a mapping; an empty one when it is something else. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** The value as a list; an empty one when it is something else. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : []

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const integerOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) ? value : undefined
