import type { PermissionRule } from '@agentproto/contracts'
import { oneLine } from './printable.js'

/** What a rule matches, on one line. */
export function ruleText({ match: { toolKind, path, command, call } }: PermissionRule): string {
  const parts = [
    toolKind,
    path,
    command === undefined ? undefined : `$ ${command}`,
    call === undefined ? undefined : 'this call only',
  ]
  return oneLine(parts.filter((part) => part !== undefined).join(' '))
}
