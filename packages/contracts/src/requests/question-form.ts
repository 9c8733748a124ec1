import { asList, asRecord, asString, defined, type Json } from '../json.js'

/** A field of a question's form, from the flat JSON Schema that MCP elicitation allows. */
export interface FormField {
  readonly name: string
  /** What a person reads; the name where the schema has no title. */
  readonly title: string
  readonly description?: string
  /** `choices` without any: a list of texts. */
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  readonly choices: readonly { readonly value: string; readonly title: string }[]
  readonly required: boolean
  /** The default of the schema, of any type. */
  readonly fallback?: unknown
}

/** What was read of a field, `undefined` where it is left out; or what is wrong with what was typed. */
export type FormValue = { readonly value: unknown } | { readonly problem: string }

/** The fields of a form in their order; none for what is no schema of an object. */
export function formFields(schema: unknown): readonly FormField[] {
  const { properties, required } = asRecord(schema)
  const needed = asList(required)
  return Object.entries(asRecord(properties)).map(([name, property]) =>
    fieldOf(name, asRecord(property), needed.includes(name)),
  )
}

/** A field in which nothing was typed and that has no default. */
export const emptyValue = ({ required }: FormField): FormValue =>
  required ? { problem: 'This field is required.' } : { value: undefined }

/** The value of a field of numbers. */
export function readNumber(text: string, isWhole: boolean): FormValue {
  const value = Number(text)
  if (Number.isFinite(value) && (!isWhole || Number.isInteger(value))) return { value }
  return { problem: isWhole ? 'Enter a whole number.' : 'Enter a number.' }
}

/** What a text is answered that names no choice of its field. */
export const unknownChoice = (text: string): FormValue => ({ problem: `Not one of the choices: ${text}` })

function fieldOf(name: string, property: Json, required: boolean): FormField {
  const choices = choicesIn(property) ?? choicesIn(asRecord(property['items'])) ?? []
  return {
    name,
    title: textOr(property['title'], name),
    type: typeOf(property, choices.length > 0),
    choices,
    required,
    ...defined({ description: asString(property['description']), fallback: property['default'] }),
  }
}

function typeOf({ type }: Json, hasChoices: boolean): FormField['type'] {
  if (type === 'array') return 'choices'
  if (hasChoices) return 'choice'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text'
}

/** `enum` (with `enumNames`), or `oneOf`/`anyOf` of titled constants. */
function choicesIn({ enum: values, enumNames, oneOf, anyOf }: Json): FormField['choices'] | undefined {
  if (Array.isArray(values)) return asList(values).map((value, index) => choice(value, asList(enumNames)[index]))
  const constants = Array.isArray(oneOf) ? asList(oneOf) : asList(anyOf)
  return constants.length === 0
    ? undefined
    : constants.map(asRecord).map(({ const: value, title }) => choice(value, title))
}

const choice = (value: unknown, title: unknown): FormField['choices'][number] => ({
  value: String(value),
  title: textOr(title, String(value)),
})

const textOr = (value: unknown, fallback: string): string => asString(value) || fallback
