/**
 * Replaces each `{value}` in a template by a value. No shell reads the result, so the value is not escaped, except in a
 * template that the agent itself parses, such as `OPENCODE_CONFIG_CONTENT: '{"model":"{value}"}'` or `model="{value}"`:
 * quotes in a model's name must not become keys of its configuration. In double quotes a value is escaped like in JSON
 * and TOML, and outside of quotes in JSON it is written as a JSON value.
 */
export function fillTemplate(template: string, value: string | number | boolean): string {
  const [first = '', ...rest] = template.split('{value}')
  const json = JSON.stringify(value)
  const escaped = typeof value === 'string' ? json.slice(1, -1) : json
  const bare = isJson([first, ...rest].join('0')) ? json : String(value)
  // An odd number of quotes is not a quotation.
  const quotes = countQuotes(template) % 2 === 0
  let inQuotes = countQuotes(first) % 2 === 1
  let filled = first
  for (const part of rest) {
    filled += (quotes && inQuotes ? escaped : bare) + part
    if (countQuotes(part) % 2 === 1) inQuotes = !inQuotes
  }
  return filled
}

/** Whether a text is a JSON object or list. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Double quotes without a backslash before them. */
const countQuotes = (text: string): number => text.replace(/\\./gs, '').split('"').length - 1
