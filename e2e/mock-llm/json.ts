/** JSON of any shape, read without casts: what is not there or not of the kind is the empty one. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
export const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
