// The audit log without a gateway, for commands that change a home's files themselves. This file is the contract of
// `@agentproto/server/audit`: every export is named here, and none of them loads a gateway.
export { auditOffline } from './audit/offline-audit.js'
export type { OfflineOptions } from './audit/offline-audit.js'
