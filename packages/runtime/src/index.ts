// The whole of agentproto, embedded. This file is the package's contract: every export is named here.
export { createGateway } from './create-gateway.js'
export { openAdapters } from './open-adapters.js'
export { openTokens } from './open-tokens.js'
export type { OpenAdaptersOptions } from './open-adapters.js'
export type { Question, Terminal } from '@agentproto/driver-agent-cli/provision'
export type { Gateway } from './create-gateway.js'
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
export type { LogLevel, LogOptions } from './gateway-log.js'
export type { TlsOptions } from './tls-material.js'
export { DEFAULT_PORT } from './server.js'
export { version } from './version.js'
