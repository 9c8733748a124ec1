import type { Tool } from './conversation.js'
import { listOf, objectOf, textOf, type Json, type JsonObject } from './json.js'
import { sampleObject, sampleOf } from './schema-sample.js'

/** A value for the property whose name matches. */
type Filling = readonly [name: RegExp, value: Json]

const PATH = /^(file_?path|path|absolute_path|filename|file|target_file)$/i
const CONTENT = /^(content|contents|file_text|text|new_?string|new_?text|new_str)$/i
const OLD = /^(old_?string|old_?text|old_str)$/i
const NEW = /^(new_?string|new_?text|new_str)$/i
const PATCH = /^(input|patch|patch_?text)$/i

/** The smallest input that the schema of the tool allows, with the given values where a property matches. */
function fillInput(tool: Tool, fillings: readonly Filling[]): JsonObject {
  const properties = objectOf(tool.schema['properties'])
  const required = listOf(tool.schema['required']).map(textOf)
  const filled: Record<string, Json | undefined> = { ...sampleObject(tool.schema) }
  for (const [pattern, value] of fillings) {
    const names = Object.keys(properties).filter((name) => pattern.test(name))
    const name = names.find((one) => required.includes(one)) ?? names[0]
    if (name !== undefined) filled[name] = fitted(objectOf(properties[name]), value, filled[name])
  }
  return filled
}

/** A list property takes a single value as its only item, unless its items are objects. */
function fitted(schema: JsonObject, value: Json, sample: Json | undefined): Json | undefined {
  if (schema['type'] !== 'array' || Array.isArray(value)) return value
  return objectOf(schema['items'])['type'] === 'object' ? sample : [value]
}

export const readInput = (tool: Tool, path: string): JsonObject => fillInput(tool, [[PATH, path]])

export function writeInput(tool: Tool, path: string, text: string): JsonObject {
  return fillInput(tool, [
    [PATH, path],
    [CONTENT, text],
    [OLD, ''],
    [/^command$/i, 'create'],
  ])
}

export function editInput(tool: Tool, path: string, [oldText, newText]: readonly [string, string]): JsonObject {
  const input = fillInput(tool, [
    [PATH, path],
    [OLD, oldText],
    [NEW, newText],
  ])
  const edits = objectOf(objectOf(tool.schema['properties'])['edits'])
  if (edits['items'] === undefined) return input
  return { ...input, edits: [{ ...objectOf(sampleOf(edits['items'])), oldText, newText }] }
}

export const patchInput = (tool: Tool, patch: string): JsonObject => fillInput(tool, [[PATCH, patch]])

export function shellInput(tool: Tool, command: string, askOutsideSandbox: boolean): JsonObject {
  const properties = objectOf(tool.schema['properties'])
  const takesList = objectOf(properties['command'] ?? properties['cmd'])['type'] === 'array'
  const input = fillInput(tool, [
    [/^(command|cmd|commands|script)$/i, takesList ? ['bash', '-lc', command] : command],
    [/^description$/i, 'Mock command'],
  ])
  return askOutsideSandbox && properties['sandbox_permissions'] ? { ...input, ...OUTSIDE_SANDBOX } : input
}

/** The arguments for a Codex command that needs a permission. */
export const OUTSIDE_SANDBOX = {
  sandbox_permissions: 'require_escalated',
  justification: 'Mock asks to run this outside the sandbox?',
} as const

const STEPS = [
  { text: 'first step', status: /complet|done/ },
  { text: 'second step', status: /progress/ },
  { text: 'third step', status: /pend|todo/ },
] as const

/** Three steps in the list of the tool. */
export function planInput(tool: Tool): JsonObject {
  const input = sampleObject(tool.schema)
  const name = Object.keys(input).find((key) => Array.isArray(input[key]))
  if (name === undefined) return input
  const item = objectOf(objectOf(objectOf(tool.schema['properties'])[name])['items'])
  return { ...input, [name]: STEPS.map((step, i) => planStep(item, step, i)) }
}

function planStep(item: JsonObject, { text, status }: (typeof STEPS)[number], index: number): JsonObject {
  const properties = objectOf(item['properties'])
  const step: Record<string, Json | undefined> = { ...objectOf(sampleOf(item)) }
  const statuses = listOf(objectOf(properties['status'])['enum']).map(textOf)
  for (const name of Object.keys(properties)) {
    if (/^(content|step|description|title|text|task)$/.test(name)) step[name] = text
    if (name === 'activeForm') step[name] = `doing ${text}`
    if (name === 'status') step[name] = statuses.find((one) => status.test(one)) ?? statuses[0] ?? 'pending'
    if (name === 'id') step[name] = String(index + 1)
  }
  return step
}

/** A question with the answers red and blue, if the tool has choices. */
export function questionInput(tool: Tool, question: string): JsonObject {
  const input = fillInput(tool, [[/^(question|prompt|message)$/i, question]])
  if (!Array.isArray(input['questions'])) return input
  const items = objectOf(objectOf(objectOf(tool.schema['properties'])['questions'])['items'])
  const choice = objectOf(objectOf(objectOf(items['properties'])['options'])['items'])
  const options = ['red', 'blue'].map((label) =>
    choice['type'] === 'string' ? label : { ...objectOf(sampleOf(choice)), label, description: label },
  )
  return { ...input, questions: input['questions'].map((one) => ({ ...objectOf(one), question, options })) }
}
