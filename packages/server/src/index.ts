// What a process needs to be a gateway. This file is the package's contract: every export is named here.
export { openAccess } from './access/access.js'
export type { Access } from './access/access.js'
export { browserCodes } from './access/browser-codes.js'
export { openTokens } from './access/open-tokens.js'
export type { OpenTokensOptions } from './access/open-tokens.js'
export { withKeptToken, withSessionToken } from './access/with-session-token.js'
export { openAudit } from './audit/audit.js'
export type { Audit } from './audit/audit.js'
export type { HostOf } from './audit/with-audit.js'
export { wrapMethods } from './wrap-methods.js'
export { openOfflineAudit } from './audit/offline-audit.js'
export type { OfflineOptions } from './audit/offline-audit.js'
export { recordRun } from './home/gateway-runs.js'
export type { GatewayRuns } from './home/gateway-runs.js'
export type { HomeLock } from './home/home-lock.js'
export { assertHomeReadable } from './home/home-record.js'
export type { HomeRecord, HomeUpgrade } from './home/home-record.js'
export { openHome, prepareHome } from './home/open-home.js'
export type { OpenHomeOptions, PrepareHomeOptions } from './home/open-home.js'
export { Hooks } from './hooks/hooks.js'
export type {
  GatewayHooks,
  Hook,
  HookContext,
  HookDenial,
  PromptAttempt,
  RequestAsked,
  SpawnAttempt,
} from './hooks/gateway-hooks.js'
export { HostNames } from './listen/host-names.js'
export { DEFAULT_PORT } from './listen/http-server.js'
export type { ListenOptions } from './listen/http-server.js'
export { Listeners } from './listen/listeners.js'
export type { RestartableListenOptions } from './listen/listeners.js'
export type { TlsOptions } from './listen/tls-material.js'
export { Notifier } from './notify/notifier.js'
export type { NotifierOptions } from './notify/notifier.js'
export type { NotifyOptions, OutboxLimits, WebhookOptions } from './notify/notify-options.js'
export { ownHost } from './own-host.js'
export type { OwnHostOptions, OwnHostService } from './own-host.js'
export { GatewayLog } from './telemetry/gateway-log.js'
export type { LogLevel, LogOptions } from './telemetry/gateway-log.js'
export { Metrics } from './telemetry/metrics.js'
export type { HomeWriter } from './version.js'
