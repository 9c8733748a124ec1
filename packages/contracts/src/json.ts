/** Reads data of unknown shape, such as agent output. */

export type Json = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of a JSON text; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value as an object; anything else becomes an object without members. */
export const asRecord = (value: unknown): Json => (isRecord(value) ? value : {})

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asString = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** A copy without the members that are undefined, as `exactOptionalPropertyTypes` requires. */
export function defined<T extends object>(members: T): Defined<T> {
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined) copy[name] = value
  return copy as Defined<T>
}

type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]
export type Defined<T> = Omit<T, Optional<T>> & { [K in Optional<T>]?: Exclude<T[K], undefined> }
