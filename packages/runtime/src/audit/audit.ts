import type { SessionEvent, TokenService } from '@agentproto/contracts'
import type { SessionRegistry } from '@agentproto/session-registry'
import { AuditLog, type AuditLogOptions } from './audit-log.js'
import { audited, auditedTokens } from './audited.js'
import { ToolAudit } from './tool-audit.js'

/** Where the audit log of a gateway looks in on what is done. */
export interface Audit {
  registry(registry: SessionRegistry): SessionRegistry
  tokens(tokens: TokenService): TokenService
  /** Takes a stored batch of one session's events. Never throws. */
  events(events: readonly SessionEvent[]): void
  /** Writes what waits; nothing is written after it. */
  close(): void
}

type AuditOptions = Omit<AuditLogOptions, 'path'> & { readonly path: string | undefined }

/** @param options Without a path nothing is written, and everything passes as it is */
export function openAudit({ path, ...options }: AuditOptions): Audit {
  if (path === undefined) return NO_AUDIT
  const log = new AuditLog({ ...options, path })
  const tools = new ToolAudit(log)
  return {
    registry: (registry) => audited(registry, log),
    tokens: (tokens) => auditedTokens(tokens, log),
    events: (events) => tools.take(events),
    close: () => log.close(),
  }
}

const NO_AUDIT: Audit = {
  registry: (registry) => registry,
  tokens: (tokens) => tokens,
  events: () => undefined,
  close: () => undefined,
}
