// The audit log without a gateway, for commands that change a home's files themselves; loads no gateway. This file is the
// contract of `@agentproto/runtime/audit`: every export is named here.
export { auditOffline } from '@agentproto/server/audit'
export type { OfflineAuditOptions } from '@agentproto/server/audit'
