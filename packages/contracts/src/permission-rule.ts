/** Rules that answer permission requests of agents. They are checked before the permission mode of the session. */

/** `once`: for one request. `session`: for the session, also after a resume. `workspace`: for every session in it. */
export const RULE_LIFETIMES = ['once', 'session', 'workspace'] as const
export type RuleLifetime = (typeof RULE_LIFETIMES)[number]

/** Which rules are meant. */
export type RuleScope = { readonly sessionId: string } | { readonly workspaceSlug: string }
