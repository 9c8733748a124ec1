import type { PermissionOptionKind, RuleMatch, ToolKind } from '@agentproto/contracts'
import { exactLine } from './exact.js'

/** Our own words for what an agent only names. */

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
export const OPTION_TEXT: Readonly<Record<PermissionOptionKind, string>> = {
  allow_once: 'Allow once',
  allow_always: 'Allow always',
  reject_once: 'Deny once',
  reject_always: 'Deny always',
}

/** What a rule covers. */
export function ruleText({ toolKind, path, command, call }: RuleMatch): string {
  if (call !== undefined) return 'this same call again, with the same input and title, and nothing else'
  const parts = [
    toolKind === undefined ? 'every call' : `every call that ${KIND_TEXT[toolKind]}`,
    command === undefined ? undefined : `a part of which is the command ${exactLine(command)}`,
    path === undefined ? undefined : `that names ${exactLine(path)}`,
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}
