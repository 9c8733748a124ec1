/** What single keywords of JSON Schema ask of a value. */

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => Number.isFinite(value),
  integer: (value) => Number.isInteger(value),
  array: (value) => Array.isArray(value),
  object: isObject,
}

const patterns = new Map<string, RegExp>()
export function matches(pattern: string, text: string): boolean {
  let compiled = patterns.get(pattern)
  if (compiled === undefined) patterns.set(pattern, (compiled = new RegExp(pattern, 'u')))
  return compiled.test(text)
}

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uri: (text) => /^[A-Za-z][A-Za-z0-9+.-]*:[^\s]+$/.test(text) && URL.canParse(text),
  'date-time': (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
}

/** In code points; nearly every text has as many of them as of units. */
const length = (text: string): number => {
  if (!/[\ud800-\udfff]/.test(text)) return text.length
  let points = 0
  for (const _ of text) points++
  return points
}

/** A number that bounds a value of one kind; a value of another kind is not its concern. */
export const bound =
  (measure: (value: unknown) => number | undefined, isWithin: (size: number, limit: number) => boolean) =>
  (value: unknown, limit: unknown): boolean => {
    const size = measure(value)
    return size === undefined || isWithin(size, limit as number)
  }
export const atLeast = (size: number, limit: number): boolean => size >= limit
export const atMost = (size: number, limit: number): boolean => size <= limit
export const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
export const characters = (value: unknown): number | undefined =>
  typeof value === 'string' ? length(value) : undefined
export const items = (value: unknown): number | undefined => (Array.isArray(value) ? value.length : undefined)
export const keys = (value: unknown): number | undefined => (isObject(value) ? Object.keys(value).length : undefined)
