import { asList, asRecord, asString, defined } from '@agentproto/contracts'

/** A field of a question's form, from the flat JSON Schema that MCP elicitation allows. */
export interface Field {
  readonly name: string
  readonly title: string
  readonly description?: string
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  readonly choices: readonly { readonly value: string; readonly title: string }[]
  readonly required: boolean
  readonly fallback?: unknown
}

export type FieldValue = { readonly value: unknown } | { readonly problem: string }

export function fieldsOf(schema: unknown): Field[] {
  const { properties = {}, required } = asRecord(schema)
  const needed = asList(required)
  return Object.entries(asRecord(properties)).map(([name, property]) =>
    fieldOf(name, asRecord(property), needed.includes(name)),
  )
}

/** The value of what was typed. Empty input is the default of the field, or leaves it out (`undefined`). */
export function readField(field: Field, typed: string): FieldValue {
  const text = typed.trim()
  if (text === '') {
    if (field.fallback !== undefined) return { value: field.fallback }
    return field.required ? { problem: 'This field is required.' } : { value: undefined }
  }
  switch (field.type) {
    case 'text':
      return { value: typed }
    case 'number':
    case 'integer':
      return readNumber(text, field.type === 'integer')
    case 'boolean':
      return readBoolean(text)
    case 'choice':
      return readChoice(field, text)
    case 'choices': {
      const read = text.split(',').map((part) => readChoice(field, part.trim()))
      const bad = read.find((each) => 'problem' in each)
      return bad ?? { value: read.flatMap((each) => ('value' in each ? [each.value] : [])) }
    }
  }
}

/** A short description of valid input. */
export function fieldHint({ type, choices, required, fallback }: Field): string {
  const kinds = { text: '', number: 'a number', integer: 'a whole number', boolean: 'y or n' }
  const what =
    type === 'choice' || type === 'choices'
      ? choices.map(({ title }, index) => `${index + 1} ${title}`).join(', ') +
        (type === 'choices' ? ' (several by comma)' : '')
      : kinds[type]
  const rest =
    fallback !== undefined ? `Enter for ${JSON.stringify(fallback)}` : required ? '' : 'Enter to leave it out'
  return [what, rest].filter(Boolean).join('; ')
}

function fieldOf(name: string, property: Readonly<Record<string, unknown>>, required: boolean): Field {
  const items = asRecord(property['items'])
  const choices = choicesIn(property) ?? choicesIn(items) ?? []
  return {
    name,
    title: textOr(property['title'], name),
    type: typeOf(property, choices.length > 0),
    choices,
    required,
    ...defined({ description: asString(property['description']), fallback: property['default'] }),
  }
}

function typeOf({ type }: Readonly<Record<string, unknown>>, hasChoices: boolean): Field['type'] {
  if (type === 'array') return 'choices'
  if (hasChoices) return 'choice'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text'
}

/** `enum` (with `enumNames`), or `oneOf`/`anyOf` of titled constants. */
function choicesIn(property: Readonly<Record<string, unknown>>): Field['choices'] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = property
  const constants = Array.isArray(oneOf) ? oneOf : anyOf
  if (Array.isArray(values)) return values.map((value, index) => choice(value, asList(enumNames)[index]))
  return Array.isArray(constants)
    ? constants.map(asRecord).map(({ const: value, title }) => choice(value, title))
    : undefined
}

const choice = (value: unknown, title: unknown): Field['choices'][number] => ({
  value: String(value),
  title: textOr(title, String(value)),
})

function readNumber(text: string, whole: boolean): FieldValue {
  const value = Number(text)
  if (Number.isFinite(value) && (!whole || Number.isInteger(value))) return { value }
  return { problem: whole ? 'Enter a whole number.' : 'Enter a number.' }
}

function readBoolean(text: string): FieldValue {
  if (/^(y|yes|true|1)$/i.test(text)) return { value: true }
  return /^(n|no|false|0)$/i.test(text) ? { value: false } : { problem: 'Enter y or n.' }
}

function readChoice({ choices }: Field, text: string): FieldValue {
  const found = choices[Number(text) - 1] ?? choices.find(({ value, title }) => value === text || title === text)
  return found === undefined ? { problem: `Not one of the choices: ${text}` } : { value: found.value }
}

const textOr = (value: unknown, fallback: string): string => asString(value) || fallback
