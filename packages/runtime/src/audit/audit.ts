import type { AdapterService, SessionEvent, TokenService, WorkspaceService } from '@agentproto/contracts'
import type { SessionRegistry } from '@agentproto/session-registry'
import { AuditLog, type AuditLogOptions } from './audit-log.js'
import { audited, auditedTokens } from './audited.js'
import { auditedAdapters, auditedWorkspaces } from './audited-host.js'
import { type Refusal, Refusals } from './refusals.js'
import { ToolAudit } from './tool-audit.js'

/** Where the audit log of a gateway looks in on what is done. */
export interface Audit {
  registry(registry: SessionRegistry): SessionRegistry
  tokens(tokens: TokenService): TokenService
  workspaces(workspaces: WorkspaceService): WorkspaceService
  adapters(adapters: AdapterService): AdapterService
  /** Takes one who was turned away. Never throws. */
  refused(refusal: Refusal): void
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
  const refusals = new Refusals(log, options.clock)
  return {
    registry: (registry) => audited(registry, log),
    tokens: (tokens) => auditedTokens(tokens, log),
    workspaces: (workspaces) => auditedWorkspaces(workspaces, log),
    adapters: (adapters) => auditedAdapters(adapters, log),
    refused: (refusal) => refusals.note(refusal),
    events: (events) => tools.take(events),
    close() {
      refusals.close()
      log.close()
    },
  }
}

const NO_AUDIT: Audit = {
  registry: (registry) => registry,
  tokens: (tokens) => tokens,
  workspaces: (workspaces) => workspaces,
  adapters: (adapters) => adapters,
  refused: () => undefined,
  events: () => undefined,
  close: () => undefined,
}
