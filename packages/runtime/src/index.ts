// The whole of agentproto, embedded. This file is the package's contract: every export is named here.
export { createGateway } from './create-gateway.js'
export { openAdapters } from './agents/open-adapters.js'
export { openTokens } from './access/open-tokens.js'
export type { OpenAdaptersOptions } from './agents/open-adapters.js'
export type { Question, Terminal } from '@agentproto/provisioning'
export type { Gateway } from './gateway.js'
export type {
  GatewayHooks,
  Hook,
  HookContext,
  HookDenial,
  PromptAttempt,
  RequestAsked,
  SpawnAttempt,
} from './hooks/gateway-hooks.js'
export type { GatewayOptions, ListenOptions } from './gateway-options.js'
export type { GatewayStores } from './stores.js'
export type { LogLevel, LogOptions } from './telemetry/gateway-log.js'
export type { TlsOptions } from './listen/tls-material.js'
export { DEFAULT_PORT } from './listen/server.js'
export { version } from './version.js'
