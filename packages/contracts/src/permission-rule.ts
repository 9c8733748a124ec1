import type { ToolKind } from './content.js'

/** Rules that answer an agent's permission requests before its session's permission mode is looked at. */

/** `once`: until it has answered one request. `session`: that session, resumed too. `workspace`: every session in it. */
export const RULE_LIFETIMES = ['once', 'session', 'workspace'] as const
export type RuleLifetime = (typeof RULE_LIFETIMES)[number]

export interface PermissionRule {
  readonly ruleId: string
  /** A rule that denies wins over every one that allows. */
  readonly decision: 'allow' | 'deny'
  readonly lifetime: RuleLifetime
  /** What the tool call must be; every member that is there has to hold. */
  readonly match: RuleMatch
  /** ISO-8601. */
  readonly createdAt: string
  /** Name of the principal who made it. */
  readonly createdBy: string
  /** The request whose answer it was made of. */
  readonly from?: { readonly sessionId: string; readonly requestId: string }
}

export interface RuleMatch {
  readonly toolKind?: ToolKind
  /** Absolute path pattern: `*` and `?` within one name, `**` across names, a backslash before one of them for itself. */
  readonly path?: string
  /** Words of a command; `*` within one word, a last `**` for whatever words follow. */
  readonly command?: string
  /** Digest of one tool call, where neither a path nor a command says what it is. */
  readonly call?: string
}

/** Where rules are kept. */
export type RuleScope = { readonly sessionId: string } | { readonly workspaceSlug: string }

/** Where the rules of workspaces live: on the host, never in the workspace, which is often somebody else's code. */
export interface RuleStore {
  /** @param workspace Its real path: a slug can be given to another folder */
  load(workspace: string): Promise<readonly PermissionRule[]>
  /** Replaces them as a whole. @throws `storage_failed` */
  save(workspace: string, rules: readonly PermissionRule[]): Promise<void>
}
