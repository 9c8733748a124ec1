/** A field of a question's form, from the flat JSON Schema that MCP elicitation allows. */
export interface Field {
  readonly name: string
  readonly title: string
  readonly description: string
  /** `choices` without any: one text on each line. */
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  readonly choices: readonly { readonly value: string; readonly title: string }[]
  readonly required: boolean
  /** What is filled in at first, as texts. */
  readonly filledIn: readonly string[]
}

/** What was filled in: the content of the answer, or what is wrong with which field. */
export type FormContent =
  | { readonly content: Readonly<Record<string, unknown>> }
  | { readonly problems: ReadonlyMap<string, string> }

export function fieldsOf(schema: unknown): readonly Field[] {
  const { properties, required } = asRecord(schema)
  const needed = asList(required)
  return Object.entries(asRecord(properties)).map(([name, property]) =>
    fieldOf(name, asRecord(property), needed.includes(name)),
  )
}

/** @param typed the texts of a field: none, one, or those of all chosen boxes */
export function contentOf(fields: readonly Field[], typed: (field: Field) => readonly string[]): FormContent {
  const problems = new Map<string, string>()
  const entries: [string, unknown][] = []
  for (const field of fields) {
    const read = readField(field, typed(field))
    if ('problem' in read) problems.set(field.name, read.problem)
    else if (read.value !== undefined) entries.push([field.name, read.value])
  }
  return problems.size > 0 ? { problems } : { content: Object.fromEntries(entries) }
}

type FieldValue = { readonly value: unknown } | { readonly problem: string }

function readField(field: Field, typed: readonly string[]): FieldValue {
  const filled = typed.filter((text) => text.trim() !== '')
  const [text] = filled
  if (text === undefined) return field.required ? { problem: 'This field is required.' } : { value: undefined }
  switch (field.type) {
    case 'text':
      return { value: text }
    case 'number':
    case 'integer':
      return readNumber(text, field.type === 'integer')
    case 'boolean':
      return { value: text === 'true' }
    case 'choice':
      return readChoices(field, [text], ([value]) => value)
    case 'choices':
      return field.choices.length === 0
        ? { value: filled.flatMap((lines) => lines.split('\n')).filter((line) => line.trim() !== '') }
        : readChoices(field, filled, (values) => values)
  }
}

function readNumber(text: string, isWhole: boolean): FieldValue {
  const value = Number(text)
  if (Number.isFinite(value) && (!isWhole || Number.isInteger(value))) return { value }
  return { problem: isWhole ? 'Enter a whole number.' : 'Enter a number.' }
}

function readChoices(
  { choices }: Field,
  values: readonly string[],
  result: (values: readonly string[]) => unknown,
): FieldValue {
  const wrong = values.find((value) => choices.every((choice) => choice.value !== value))
  return wrong === undefined ? { value: result(values) } : { problem: `Not one of the choices: ${wrong}` }
}

function fieldOf(name: string, property: Members, required: boolean): Field {
  const choices = choicesIn(property) ?? choicesIn(asRecord(property['items'])) ?? []
  const { title, description, default: fallback } = property
  return {
    name,
    title: textOr(title, name),
    description: textOr(description, ''),
    type: typeOf(property, choices.length > 0),
    choices,
    required,
    filledIn: (Array.isArray(fallback) ? asList(fallback) : [fallback]).flatMap(textsOf),
  }
}

const textsOf = (value: unknown): string[] =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : []

function typeOf({ type }: Members, hasChoices: boolean): Field['type'] {
  if (type === 'array') return 'choices'
  if (hasChoices) return 'choice'
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'text'
}

/** `enum` (with `enumNames`), or `oneOf`/`anyOf` of titled constants. */
function choicesIn({ enum: values, enumNames, oneOf, anyOf }: Members): Field['choices'] | undefined {
  if (Array.isArray(values)) return asList(values).map((value, index) => choice(value, asList(enumNames)[index]))
  const constants = Array.isArray(oneOf) ? asList(oneOf) : asList(anyOf)
  return constants.length === 0
    ? undefined
    : constants.map(asRecord).map(({ const: value, title }) => choice(value, title))
}

const choice = (value: unknown, title: unknown): Field['choices'][number] => ({
  value: String(value),
  title: textOr(title, String(value)),
})

type Members = Readonly<Record<string, unknown>>
const asRecord = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {}
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' && value !== '' ? value : fallback
