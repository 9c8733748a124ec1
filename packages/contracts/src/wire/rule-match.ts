import * as z from 'zod'
import { TOOL_KINDS } from '../content.js'
import type { ValueOf } from './value-of.js'

export const ruleMatch = z.object({
  toolKind: z.enum(TOOL_KINDS).optional(),
  /** Absolute path pattern: `*` and `?` within one name, `**` across names, a backslash escapes them. */
  path: z.string().optional(),
  /** Words of a command; `*` within one word, a trailing `**` for any further words. */
  command: z.string().optional(),
  /** Digest of one tool call that has neither a path nor a command. */
  call: z.string().optional(),
})
/** Conditions on a tool call; all of them must match. */
export type RuleMatch = ValueOf<typeof ruleMatch>
