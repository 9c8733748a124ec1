import { emptyValue, type FormField, type FormValue, readNumber, unknownChoice } from '@agentproto/contracts'

/** The value of what was typed. Empty input is the default of the field, or leaves it out (`undefined`). */
export function readField(field: FormField, typed: string): FormValue {
  const text = typed.trim()
  if (text === '') return field.fallback === undefined ? emptyValue(field) : { value: field.fallback }
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
      const parts = text.split(',').map((part) => part.trim())
      if (field.choices.length === 0) return { value: parts.filter((part) => part !== '') }
      const read = parts.map((part) => readChoice(field, part))
      const bad = read.find((each) => 'problem' in each)
      return bad ?? { value: read.flatMap((each) => ('value' in each ? [each.value] : [])) }
    }
  }
}

/** A short description of valid input. */
export function fieldHint({ type, choices, required, fallback }: FormField): string {
  const kinds = { text: '', number: 'a number', integer: 'a whole number', boolean: 'y or n' }
  const what =
    type === 'choice' || type === 'choices'
      ? choices.map(({ title }, index) => `${index + 1} ${title}`).join(', ') +
        (type === 'choices' ? ' (several by comma)' : '')
      : kinds[type]
  const rest =
    fallback !== undefined
      ? `Enter for ${typeof fallback === 'boolean' ? (fallback ? 'yes' : 'no') : JSON.stringify(fallback)}`
      : required
        ? ''
        : 'Enter to leave it out'
  return [what, rest].filter(Boolean).join('; ')
}

function readBoolean(text: string): FormValue {
  if (/^(y|yes|true|1)$/i.test(text)) return { value: true }
  return /^(n|no|false|0)$/i.test(text) ? { value: false } : { problem: 'Enter y or n.' }
}

function readChoice({ choices }: FormField, text: string): FormValue {
  const found = choices[Number(text) - 1] ?? choices.find(({ value, title }) => value === text || title === text)
  return found === undefined ? unknownChoice(text) : { value: found.value }
}
