// All of agentproto, embedded. This file is the package's contract: every export is named here.
export { createGateway } from './create-gateway.js'
export { examineFleet } from './examine-fleet.js'
export type { ExaminedFleet } from './examine-fleet.js'
export { fleetKey } from './fleet-key.js'
export type { FleetKey } from './fleet-key.js'
export { endKeptAgents } from './end-kept-agents.js'
export { openAgentRegistry } from './open-agent-registry.js'
export { openAdapters } from './open-adapters.js'
export type { OpenAdaptersOptions } from './open-adapters.js'
export { openEndpoints, type Endpoints } from './open-endpoints.js'
export type { EndpointPlan, EndpointWish } from '@agentproto/provisioning'
export { openPublishCheck, publishReportOf } from './open-publish-check.js'
export type { PublishOptions, PublishTarget } from './open-publish-check.js'
export type { PublishCheckId, PublishFinding, PublishReport } from '@agentproto/provisioning/publish-check'
export { describeAgent, type DescribeAgent } from '@agentproto/driver-agent-cli'
export type { Question, Terminal } from '@agentproto/provisioning'
export type { Gateway } from './gateway.js'
export type { ClusterOptions, GatewayOptions, KeeperOptions } from './gateway-options.js'
export { DEFAULT_PORT } from '@agentproto/server'
export { openTokens } from './open-tokens.js'
export type {
  GatewayHooks,
  Hook,
  HookContext,
  HookDenial,
  ListenOptions,
  LogLevel,
  LogOptions,
  NotifyOptions,
  OutboxLimits,
  PromptAttempt,
  RequestAsked,
  SpawnAttempt,
  TlsOptions,
  WebhookOptions,
} from '@agentproto/server'
export type { GatewayStores } from './stores.js'
export { version } from './version.js'
