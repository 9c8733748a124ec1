// The client of an agentproto gateway. This file is the package's contract: every export is named here.
export { createClient } from './create-client.js'
export type { AdaptersClient } from './adapters-client.js'
export type { Client, Health } from './create-client.js'
export type { WorkspacesClient } from './host-clients.js'
export type { ClientOptions, Fetch, FetchInit, FetchReader, FetchResponse, GatewayAddress } from './client-options.js'
export type { CallOptions, SessionsClient } from './sessions-client.js'
export type { EventsPage, PromptAccepted } from '@agentproto/contracts/wire'
export type { PermissionsClient } from './permissions-client.js'
export type { ConnectionState, OnConnectionState } from './connection-state.js'
export type { TurnWaitOptions } from './turn-wait.js'
export type { WatchOptions } from './change-feed.js'
export type { FollowEventsOptions } from './event-feed.js'
export type { FollowOutputOptions } from './output-feed.js'
export { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
export type {
  AddRuleRequest,
  AdapterSummary,
  AnswerRequest,
  ConfigRequest,
  ErrorCode,
  EventGap,
  ForkRequest,
  KillReason,
  OutputItem,
  OutputLine,
  PermissionMode,
  PermissionRule,
  Problem,
  PromptRequest,
  RuleScope,
  Session,
  SessionChange,
  SessionEvent,
  SessionFilter,
  SessionPage,
  SessionRequest,
  SessionStatus,
  SpawnAgentRequest,
  TraceContext,
  Turn,
  TurnResult,
  Workspace,
  WorkspacesFile,
} from '@agentproto/contracts'
export type { ArchiveClient } from './archive-client.js'
