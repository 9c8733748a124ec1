import { asList, emptyValue, type FormField, type FormValue, readNumber, unknownChoice } from '@agentproto/contracts'

/** What was filled in: the content of the answer, or what is wrong with which field. */
export type FormContent =
  | { readonly content: Readonly<Record<string, unknown>> }
  | { readonly problems: ReadonlyMap<string, string> }

/** A browser draws more fields, or more choices of them together, for seconds. */
const MAX_FIELDS = 200
const MAX_CHOICES = 5_000

/** Whether a form is small enough to be drawn as fields; a larger one is shown as it is, and can only be declined. */
export const isFillable = (fields: readonly FormField[]): boolean =>
  fields.length > 0 &&
  fields.length <= MAX_FIELDS &&
  fields.reduce((sum, { choices }) => sum + choices.length, 0) <= MAX_CHOICES

/** @param typed the texts of a field: none, one, or those of all chosen boxes */
export function contentOf(fields: readonly FormField[], typed: (field: FormField) => readonly string[]): FormContent {
  const problems = new Map<string, string>()
  const entries: [string, unknown][] = []
  for (const field of fields) {
    const read = readField(field, typed(field))
    if ('problem' in read) problems.set(field.name, read.problem)
    else if (read.value !== undefined) entries.push([field.name, read.value])
  }
  return problems.size > 0 ? { problems } : { content: Object.fromEntries(entries) }
}

function readField(field: FormField, typed: readonly string[]): FormValue {
  const filled = typed.filter((text) => text.trim() !== '')
  const [text] = filled
  if (text === undefined) return emptyValue(field)
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

function readChoices(
  { choices }: FormField,
  values: readonly string[],
  result: (values: readonly string[]) => unknown,
): FormValue {
  const wrong = values.find((value) => choices.every((choice) => choice.value !== value))
  return wrong === undefined ? { value: result(values) } : unknownChoice(wrong)
}

/** What is filled in at first, as texts. */
export const filledIn = ({ fallback }: FormField): readonly string[] =>
  (Array.isArray(fallback) ? asList(fallback) : [fallback]).flatMap(textsOf)

const textsOf = (value: unknown): string[] =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : []
