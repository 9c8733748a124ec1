import type { SessionRequest } from '@agentproto/client'

// Our own words for what an agent only names.

export type AskedPermission = Extract<SessionRequest['request'], { readonly kind: 'permission' }>
export type AskedQuestion = Extract<SessionRequest['request'], { readonly kind: 'question' }>
export type Facts = NonNullable<SessionRequest['facts']>
export type Rule = NonNullable<Facts['allowRule']>
export type OptionKind = AskedPermission['options'][number]['kind']
type ToolKind = NonNullable<Facts['toolKind']>

export const KIND_TEXT: Readonly<Record<ToolKind, string>> = {
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

/** What an option does, whatever the agent calls it. */
export const OPTION_TEXT: Readonly<Record<OptionKind, string>> = {
  allow_once: 'Allow once',
  allow_always: 'Allow always',
  reject_once: 'Deny once',
  reject_always: 'Deny always',
}

/** What a rule covers. */
export function ruleText({ toolKind, path, command, call }: Rule): string {
  if (call !== undefined) return 'this same call again, with the same input and title, and nothing else'
  const parts = [
    toolKind === undefined ? 'every call' : `every call that ${KIND_TEXT[toolKind]}`,
    command === undefined ? undefined : `a part of which is the command ${command}`,
    path === undefined ? undefined : `that names ${path}`,
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}

/** Who or what answered a request. */
export function answeredText({ answeredBy }: Pick<SessionRequest, 'answeredBy'>): string {
  switch (answeredBy?.type) {
    case 'principal':
      return `Answered by ${answeredBy.name}.`
    case 'policy':
      return `Answered by the rule or mode ${answeredBy.rule}.`
    case 'timeout':
      return 'No answer came in time.'
    case 'turn-end':
      return 'Not needed any more: its turn ended.'
    case 'session-end':
      return 'Not needed any more: its session ended.'
    case 'gateway-end':
      return 'Not needed any more: the gateway was restarted.'
    case undefined:
      return 'Answered.'
  }
}

/** In ASCII, so that no letter looks like another one. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host || 'none' : 'not an address')

/** All of a value as JSON, but for texts of several lines, which are readable only as such. */
export function inputText(input: unknown): string {
  if (input === undefined) return 'no input'
  if (typeof input === 'string') return input
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return jsonOf(input)
  const isLong = (value: unknown): value is string => typeof value === 'string' && value.includes('\n')
  const entries: [string, unknown][] = Object.entries(input)
  const short = entries.filter(([, value]) => !isLong(value))
  const long = entries.flatMap(([name, value]) => (isLong(value) ? [`${JSON.stringify(name)}:\n${value}`] : []))
  return [...(short.length > 0 || long.length === 0 ? [jsonOf(Object.fromEntries(short))] : []), ...long].join('\n')
}

export const jsonOf = (value: unknown): string => JSON.stringify(value, undefined, 2) ?? ''
