import type { ToolKind } from './content.js'

/** Rules that answer permission requests of agents. They are checked before the permission mode of the session. */

/** `once`: for one request. `session`: for the session, also after a resume. `workspace`: for every session in it. */
export const RULE_LIFETIMES = ['once', 'session', 'workspace'] as const
export type RuleLifetime = (typeof RULE_LIFETIMES)[number]

export interface PermissionRule {
  readonly ruleId: string
  /** A rule that denies wins over all that allow. */
  readonly decision: 'allow' | 'deny'
  readonly lifetime: RuleLifetime
  /** Conditions on the tool call; all of them must match. */
  readonly match: RuleMatch
  /** ISO-8601. */
  readonly createdAt: string
  /** Name of the principal who created it. */
  readonly createdBy: string
  /** The request whose answer created it. */
  readonly from?: { readonly sessionId: string; readonly requestId: string }
}

export interface RuleMatch {
  readonly toolKind?: ToolKind
  /** Absolute path pattern: `*` and `?` within one name, `**` across names, a backslash escapes them. */
  readonly path?: string
  /** Words of a command; `*` within one word, a trailing `**` for any further words. */
  readonly command?: string
  /** Digest of one tool call that has neither a path nor a command. */
  readonly call?: string
}

/** Which rules are meant. */
export type RuleScope = { readonly sessionId: string } | { readonly workspaceSlug: string }

/** Stores the rules of workspaces on the host, never in the workspace, which often is foreign code. */
export interface RuleStore {
  /** @param workspace Its real path: a slug can be moved to another folder */
  load(workspace: string): Promise<readonly PermissionRule[]>
  /** Replaces all of them. @throws `storage_failed` */
  save(workspace: string, rules: readonly PermissionRule[]): Promise<void>
}
