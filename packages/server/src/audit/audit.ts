import type {
  AdapterService,
  PermissionService,
  SessionArchive,
  SessionEvent,
  SessionService,
  TokenService,
  WorkspaceService,
} from '@agentproto/contracts'
import { AuditLog, type AuditLogOptions } from './audit-log.js'
import {
  ADAPTER_ROWS,
  ARCHIVE_ROWS,
  PERMISSION_ROWS,
  SESSION_ROWS,
  TOKEN_ROWS,
  WORKSPACE_ROWS,
} from './audited-operations.js'
import { type Refusal, Refusals } from './refusals.js'
import { ToolAudit } from './tool-audit.js'
import { withAudit } from './with-audit.js'

/** The audit log of a gateway, and the services as it records them. */
export interface Audit {
  sessions(service: SessionService): SessionService
  permissions(service: PermissionService): PermissionService
  archive(service: SessionArchive): SessionArchive
  tokens(service: TokenService): TokenService
  workspaces(service: WorkspaceService): WorkspaceService
  adapters(service: AdapterService): AdapterService
  /** Records a request that was rejected before any service was called. Never throws. */
  refused(refusal: Refusal): void
  /** Records tool calls and answers in a stored batch of one session. Never throws. */
  events(events: readonly SessionEvent[]): void
  /** Writes what is pending; nothing is recorded after it. */
  close(): Promise<void>
}

export function openAudit(options: AuditLogOptions): Audit {
  const log = new AuditLog(options)
  const tools = new ToolAudit(log)
  const refusals = new Refusals(log, options.clock)
  return {
    sessions: (service) => withAudit(service, SESSION_ROWS, log),
    permissions: (service) => withAudit(service, PERMISSION_ROWS, log),
    archive: (service) => withAudit(service, ARCHIVE_ROWS, log),
    tokens: (service) => withAudit(service, TOKEN_ROWS, log),
    workspaces: (service) => withAudit(service, WORKSPACE_ROWS, log),
    adapters: (service) => withAudit(service, ADAPTER_ROWS, log),
    refused: (refusal) => refusals.record(refusal),
    events: (events) => tools.record(events),
    close() {
      refusals.close()
      return log.close()
    },
  }
}
