// The client of an agentproto gateway. This file is the package's contract: every export is named here.
export { createClient } from './create-client.js'
export type { AdaptersClient } from './adapters-client.js'
export type { Client, Health } from './create-client.js'
export type { NotificationsClient, WorkspacesClient } from './host-clients.js'
export type { ClientOptions, Fetch, FetchInit, FetchReader, FetchResponse, GatewayAddress } from './client-options.js'
export type { CallOptions, SessionsClient } from './sessions-client.js'
export {
  AgentprotoError,
  type ErrorCode,
  type EventGap,
  isAgentprotoError,
  type OutputItem,
  type OutputLine,
  type PermissionMode,
  type PermissionRule,
  type Problem,
  type RuleScope,
  type Session,
  type SessionEvent,
  type SessionRequest,
  type SessionStatus,
  type TraceContext,
  type Turn,
  type TurnResult,
  type Workspace,
  type WorkspacesFile,
} from '@agentproto/contracts'
export type { AdapterOption, AdapterSummary } from '@agentproto/contracts/agent'
export type {
  AddRuleRequest,
  AnswerRequest,
  BrowserCodeRequest,
  Caller,
  ConfigRequest,
  EventsPage,
  ForkRequest,
  KillReason,
  PromptAccepted,
  PromptRequest,
  SessionChange,
  SessionFilter,
  SessionPage,
  SpawnAgentRequest,
} from '@agentproto/contracts/wire'
export type { PermissionsClient } from './permissions-client.js'
export type { ConnectionState, FollowOptions, OnConnectionState } from './connection-state.js'
export type { WatchOptions } from './change-feed.js'
export type { FollowEventsOptions } from './event-feed.js'
export type { FollowOutputOptions } from './output-feed.js'
export type { ArchiveClient } from './archive-client.js'
