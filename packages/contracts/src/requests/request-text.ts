import type { PermissionOptionKind } from '../agent-request.js'
import type { ToolContent, ToolKind } from '../content.js'
import { asRecord, asString, isRecord } from '../json.js'
import { isWithinDepth } from '../wire/requests.js'
import type { RuleMatch } from '../wire/rule-match.js'

// Our own words for what an agent only names: a person reads the same ones in the terminal and in the console.

/** What a tool call of each kind does, as the end of the sentence "It …". */
export const TOOL_KIND_TEXT: Readonly<Record<ToolKind, string>> = {
  read: 'reads files',
  edit: 'changes files',
  delete: 'deletes files',
  move: 'moves files',
  search: 'searches in files',
  execute: 'runs commands',
  think: 'only thinks',
  fetch: 'fetches from the network',
  switch_mode: 'leaves its plan, or changes its mode',
  other: 'does something else',
}

/** What a permission option of each kind does, whatever the agent calls it. */
export const PERMISSION_OPTION_TEXT: Readonly<Record<PermissionOptionKind, string>> = {
  allow_once: 'Allow once',
  allow_always: 'Allow always',
  reject_once: 'Deny once',
  reject_always: 'Deny always',
}

/** Makes a text of an agent safe for the place where it is shown; one that is made safe later stays as it is. */
export type Quote = (text: string) => string

/**
 * What a rule covers, as the end of a sentence such as "Allow …".
 * @param quote applied to its command and its path, which come from the agent
 */
export function ruleText({ toolKind, path, command, call }: RuleMatch, quote: Quote): string {
  if (call !== undefined) return 'this same call again, with the same input and title, and nothing else'
  const parts = [
    toolKind === undefined ? 'every call' : `every call that ${TOOL_KIND_TEXT[toolKind]}`,
    command === undefined ? undefined : `a part of which is the command ${quote(command)}`,
    path === undefined ? undefined : `that names ${quote(path)}`,
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}

/** All of the raw input of a tool call as JSON, but for texts of several lines, which are readable only as such. */
export function toolInputText(input: unknown): string {
  if (input === undefined) return 'no input'
  if (typeof input === 'string') return input
  if (!isRecord(input)) return jsonText(input)
  const isLong = (value: unknown): value is string => typeof value === 'string' && value.includes('\n')
  const entries = Object.entries(input)
  const short = entries.filter(([, value]) => !isLong(value))
  const long = entries.flatMap(([name, value]) => (isLong(value) ? [`${JSON.stringify(name)}:\n${value}`] : []))
  return [...(short.length > 0 || long.length === 0 ? [jsonText(Object.fromEntries(short))] : []), ...long].join('\n')
}

/** The content of a tool call as text; a difference of files has a view of its own. */
export function toolContentText(content: Exclude<ToolContent, { readonly type: 'diff' }>): string {
  if (content.type === 'terminal') return `terminal ${content.terminalId}`
  return content.content.type === 'text' ? content.content.text : jsonText(content.content)
}

/** The plan that the input of a tool call asks to approve; undefined where it has none. */
export const planText = (input: unknown): string | undefined => asString(asRecord(input)['plan'])

/** Deeper values are written without indentation, which would grow with the square of the depth: megabytes for a few kilobytes. */
const INDENTED_DEPTH = 64

/** A value of JSON, indented by two spaces unless it is nested deeper than 64 levels; empty for undefined. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, isWithinDepth(value, INDENTED_DEPTH) ? 2 : 0) ?? ''

/** The host of an address, in ASCII, so that no letter looks like another one. */
export const hostText = (url: string): string => (URL.canParse(url) ? new URL(url).host || 'none' : 'not an address')
