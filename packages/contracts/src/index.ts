// The vocabulary of agentproto. This file is the package's contract: every export is named here.
export { AgentprotoError, ERRORS, EXIT, fromProblem, isAgentprotoError, toAgentprotoError } from './errors.js'
export type { ErrorCode, ErrorParts, ErrorRow, Problem } from './errors.js'
export { randomId, systemClock } from './clock.js'
export type { Clock, NewId, Timer } from './clock.js'
export { promptText, TOOL_KINDS } from './content.js'
export type {
  AudioContent,
  ContentBlock,
  ImageContent,
  ResourceContent,
  ResourceLinkContent,
  TextContent,
  ToolContent,
  ToolKind,
  ToolLocation,
} from './content.js'
export { STREAM_EVENT_TYPES, TURN_END_REASONS } from './stream-event.js'
export type {
  AgentPrompt,
  StreamError,
  StreamEvent,
  StreamEventType,
  TextDelta,
  Thought,
  TokenUsage,
  TurnEnd,
  TurnEndReason,
} from './stream-event.js'
export type { ToolCall, ToolResult } from './tool-call.js'
export type { AgentCommand, AgentConfig, AgentMode, AgentNotice, ConfigOption, PlanEntry } from './notice.js'
export { PERMISSION_MODES, PERMISSION_OPTION_KINDS, REQUEST_STATES } from './agent-request.js'
export type {
  AgentAnswer,
  AgentRequest,
  AnsweredBy,
  PermissionMode,
  PermissionOption,
  PermissionOptionKind,
  PermissionRequest,
  QuestionRequest,
  RequestState,
  SessionRequest,
} from './agent-request.js'
export { RULE_LIFETIMES } from './permission-rule.js'
export type { PermissionRule, RuleLifetime, RuleMatch, RuleScope, RuleStore } from './permission-rule.js'
export type { PermissionService } from './permission-service.js'
export type {
  AgentCliAdapter,
  AgentCliCapabilities,
  AgentCliClient,
  AgentCliConnectOptions,
  AgentCliEnd,
  AgentCliEvent,
  AgentCliInfo,
} from './agent-cli-client.js'
export { HOST_EVENT_TYPES } from './host-event.js'
export type {
  AgentPromptResolved,
  HostEvent,
  HostEventType,
  PromptPreface,
  Repair,
  PermissionModeChange,
  RuntimeProgress,
  RuntimeWarning,
  SessionStopped,
  StatusChange,
  UserPrompt,
} from './host-event.js'
export type {
  Envelope,
  EventBatch,
  EventGap,
  GapNotice,
  StoredLog,
  EventStore,
  EventRecord,
  LogCondition,
  SessionEvent,
  SessionEventType,
} from './event-log.js'
export { FAILURE_KINDS, isLive, SESSION_HEALTHS, SESSION_STATUSES, STOP_REASON_TEXT, STOP_REASONS } from './session.js'
export type {
  AgentCapabilities,
  AgentInfo,
  DelegationGrant,
  FailureKind,
  Session,
  SessionFailure,
  SessionHealth,
  SessionImport,
  SessionSandbox,
  SessionStatus,
  SessionTurn,
  StopReason,
  StoredAgentSession,
} from './session.js'
export type { QueuedTurn, Turn, TurnDetail, TurnResult } from './turn.js'
export { TextBuffer } from './text-buffer.js'
export { transcriptPreamble } from './transcript.js'
export type { TranscriptTurn } from './transcript.js'
export { addGap, TURN_BOUNDS, TurnParts } from './turn-parts.js'
export type { PartCut, PlanPart, TextPart, ToolPart, TurnOutput, TurnPart } from './turn-parts.js'
export type { SessionStore, StoredSession, StoredSpawn } from './session-store.js'
export type {
  AgentEnd,
  AgentProcessInfo,
  AgentSignal,
  AgentSink,
  ConfigChange,
  McpServer,
  StdioMcpServer,
  ProcessExit,
  RunningAgent,
  SessionOrigin,
  StartAgent,
  StartAgentOptions,
} from './agent.js'
export { DEFAULT_ARM_LIMITS, PROTOCOLS } from './protocol-arm.js'
export type {
  ArmConnection,
  ArmConnectOptions,
  ArmLimits,
  ArmSession,
  Launch,
  OpenSessionOptions,
  Protocol,
  ProtocolArm,
} from './protocol-arm.js'
export { CONTINUATION_STRATEGIES } from './adapter-catalog.js'
export type { AdapterCatalog, AdapterSessionPolicy, AdapterSummary, ContinuationStrategy } from './adapter-catalog.js'
export { PROVISION_PHASES } from './provisioning.js'
export type {
  AdapterService,
  AdapterState,
  AuthState,
  DoctorCheck,
  DoctorRequest,
  ProvisionEvent,
  ProvisionPhase,
  ProvisionRequest,
  SetupInput,
  SetupStepState,
} from './provisioning.js'
export type { SecretKind, SecretPlace, SecretStatus } from './secret.js'
export type { ResolvedCwd, Workspace, WorkspaceResolver, WorkspaceService, WorkspacesFile } from './workspace.js'
export { traceIdOf, traceOf } from './trace-context.js'
export type { TraceCarrier, TraceContext } from './trace-context.js'
export { SCOPES } from './principal.js'
export type {
  Authenticate,
  BrowserCode,
  BrowserLogin,
  BrowserToken,
  NamedToken,
  NewToken,
  OwnerPrincipal,
  Principal,
  Scope,
  SessionPrincipal,
  TokenPrincipal,
  TokenRequest,
  TokenService,
} from './principal.js'
export {
  assertMayDecideAhead,
  assertMayUse,
  boundsOf,
  mayUse,
  ROUTE_SCOPES,
  scopeOfRoute,
  TOOL_SCOPES,
  visibleWorkspaces,
} from './access.js'
export type { SessionBounds } from './access.js'
export type { OutputItem, OutputLine } from './output-line.js'
export {
  ARCHIVE_BOUNDS,
  exportQuerySchema,
  pruneRequestSchema,
  repairQuerySchema,
  searchQuerySchema,
  transcriptQuerySchema,
} from './session-archive.js'
export type {
  ExportFormat,
  ExportHead,
  PruneRequest,
  PruneResult,
  RepairFinding,
  RepairReport,
  SearchHit,
  UnreadableEvents,
  SearchQuery,
  SearchResult,
  SessionArchive,
  TurnTranscript,
} from './session-archive.js'
export { isTerminalRecord } from './session-service.js'
export type {
  EventReader,
  HookStop,
  KillReason,
  OutputReader,
  RequestKey,
  SessionChange,
  Interrupted,
  SessionFilter,
  SessionPage,
  SessionService,
  SessionWatcher,
  TurnQuery,
} from './session-service.js'
export {
  addAdapterSchema,
  addRuleSchema,
  addWorkspaceSchema,
  answerRequestSchema,
  BOUNDS,
  configRequestSchema,
  contentBlockSchema,
  createTokenSchema,
  delegationSchema,
  doctorRequestSchema,
  eventsQuerySchema,
  forkRequestSchema,
  isWithinDepth,
  interruptRequestSchema,
  killRequestSchema,
  listQuerySchema,
  mcpServerSchema,
  outputQuerySchema,
  permissionModeSchema,
  promptRequestSchema,
  promptSchema,
  resumeRequestSchema,
  provisionRequestSchema,
  spawnAgentSchema,
  toAgentAnswer,
  turnQuerySchema,
  turnsQuerySchema,
} from './wire.js'
export type {
  AddRuleRequest,
  AnswerRequest,
  DelegationRequest,
  ConfigRequest,
  ForkRequest,
  InterruptRequest,
  PromptRequest,
  ResumeRequest,
  SpawnAgentRequest,
} from './wire.js'
export { parseWire } from './wire-parse.js'
export { asList, asNumber, asRecord, asString, defined, isRecord } from './json.js'
export type { Defined, Json } from './json.js'
export { homeFrom, homeLayout } from './home-layout.js'
export type { DaemonRecord, HomeLayout } from './home-layout.js'
