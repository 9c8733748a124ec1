// Everything a caller can ask of a gateway: operations, the schemas of what is sent and answered, and the services that
// answer. Every export is named here.
export { OPERATIONS, operationOf, scopeOfRoute, TOOLS } from './wire/operations.js'
export type { BodyOf, JsonOf, ParamsOf, QueryOf, Route, ToolInput, ToolName } from './wire/operations.js'
export type { Answer, Operation, Services, ServiceMethod, StreamStats, ToolDefinition } from './wire/operation.js'
export { TOOL_OUTPUT_LINES, TOOL_WAIT_SECONDS, TOOL_WAIT_SESSIONS } from './wire/tools.js'
export { ACP_BOUNDS } from './wire/acp-bounds.js'
export { ACP_METHODS } from './wire/acp-methods.js'
export type { AcpMethod } from './wire/acp-methods.js'
export { isAcpPath } from './wire/acp-operations.js'
export type { AcpCaller, AcpService, AcpSocket, AcpUpgrade } from './wire/acp-service.js'
export { observedAgent as observedAgentSchema } from './wire/agent-observation.js'
export { registryOrigin as registryOriginSchema } from './wire/host-responses.js'
export { event as eventSchema, session as sessionSchema } from './wire/session-responses.js'
export type {
  EventsPage,
  Forgotten,
  ExportHead,
  Interrupted,
  PromptAccepted,
  PruneResult,
  RepairFinding,
  RepairReport,
  SearchHit,
  SearchResult,
  RequestPage,
  SessionPage,
  TurnTranscript,
  UnreadableEvents,
} from './wire/session-responses.js'
export type {
  AdapterState,
  Caller,
  DoctorCheck,
  DoctorReport,
  SetupInput,
  SetupStepState,
} from './wire/host-responses.js'
export {
  assertMayDecideAhead,
  assertMayUse,
  boundsOf,
  coversWorkspace,
  mayUse,
  tokenEnded,
  visibleHosts,
  visibleWorkspaces,
  whileTokenIsValid,
} from './wire/access.js'
export type { ConsoleFile, ConsoleFiles } from './wire/console-files.js'
export { isInFolder, isWithinBounds } from './wire/session-bounds.js'
export type { SessionBounds } from './wire/session-bounds.js'
export { answerRequestSchema, toAgentAnswer } from './wire/answer-request.js'
export type { AnswerRequest } from './wire/answer-request.js'
export { contentBlockSchema } from './wire/content-block.js'
export { parseWire } from './wire/parse-wire.js'
export { lostSessionSchema, movedSettingsSchema } from './wire/lost-session.js'
export type { LostRecord } from './wire/lost-session.js'
export {
  addRuleSchema,
  BOUNDS,
  configRequestSchema,
  isWithinDepth,
  listQuerySchema,
  mcpServerSchema,
  OUTPUT_CURSOR,
  permissionModeSchema,
  promptRequestSchema,
  promptSchema,
  spawnAgentSchema,
} from './wire/requests.js'
export type {
  AddRuleRequest,
  ConfigRequest,
  DelegationRequest,
  ForkRequest,
  InterruptRequest,
  KillReason,
  PromptRequest,
  RenameRequest,
  ResumeRequest,
  SessionFilter,
  SpawnAgentRequest,
  TurnQuery,
  WorktreeRequest,
} from './wire/requests.js'
export { hasEndedBefore, matchesFilter } from './wire/session-filter.js'
export type { WaitingQuery } from './wire/waiting-query.js'
export { CHANGE_BOUNDS } from './wire/change-requests.js'
export type {
  ChangesQuery,
  PatchQuery,
  ReviewedRequest,
  RewindFilesRequest,
  StateName,
} from './wire/change-requests.js'
export type { ComparedState, RewoundFiles, SessionChanges } from './wire/change-responses.js'
export type { ChangeService } from './wire/change-service.js'
export { createTokenSchema } from './wire/host-requests.js'
export type { AddWorkspaceRequest, BrowserCodeRequest } from './wire/host-requests.js'
export { ARCHIVE_BOUNDS } from './wire/archive-requests.js'
export type { ExportFormat, PruneRequest, SearchQuery } from './wire/archive-requests.js'
export type { FleetIds, SessionArchive } from './wire/session-archive.js'
export { PENDING_CHANGES_MAX, PendingChanges } from './wire/pending-changes.js'
export type { NotificationService } from './wire/notification-service.js'
export type { DropReason, NotificationState, NotificationTest, NotifyTarget } from './wire/notification-responses.js'
export type { FleetState } from './wire/fleet-state.js'
export type { GatewayInfo, Host } from './wire/host-responses.js'
export type { HostService } from './wire/host-service.js'
export type { AllRules, PlacedRule } from './wire/session-responses.js'
export type { PermissionService } from './wire/permission-service.js'
export type {
  AdapterService,
  AddAgentEvent,
  AddAgentRequest,
  AuthState,
  DoctorRequest,
  ProvisionEvent,
  ProvisionPhase,
  ProvisionRequest,
  UpdateAgentRequest,
} from './wire/provisioning.js'
export type { AgentSearch, AgentWish, OutdatedQuery } from './wire/registry-requests.js'
export type {
  AddedAgent,
  AdapterUpdate,
  AdapterUpdates,
  AgentPlan,
  FoundAgent,
  FoundAgents,
  RegistryState,
} from './wire/registry-responses.js'
export type {
  EventReader,
  HookStop,
  OutputReader,
  Prompted,
  Reader,
  RequestKey,
  SessionChange,
  SessionService,
  SessionWatcher,
} from './wire/session-service.js'
export { budgetSchema, loopsSchema, USAGE_BOUNDS, USAGE_GROUPS } from './wire/usage.js'
export type { UsageService } from './wire/usage-service.js'
export type { UsageGroup, UsageQuery, UsageReport, UsageReportRow } from './wire/usage.js'
export type { DiscardWorktreeRequest, MergeWorktreeRequest } from './wire/worktree-requests.js'
export type { MergedWorktree } from './wire/worktree-responses.js'
export type { WorktreeService } from './wire/worktree-service.js'
