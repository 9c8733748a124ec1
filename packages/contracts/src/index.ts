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
export type { PermissionService } from './wire/permission-service.js'
export type {
  AgentCliAdapter,
  AgentCliCapabilities,
  AgentCliClient,
  AgentCliConnectOptions,
  AgentCliEnd,
  AgentCliEvent,
  AgentCliInfo,
} from './agent/agent-cli-client.js'
export { HOST_EVENT_TYPES } from './host-event.js'
export type {
  AgentPromptResolved,
  HostEvent,
  HostEventType,
  PromptContextPart,
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
export { transcriptPreamble } from './agent/transcript.js'
export type { TranscriptTurn } from './agent/transcript.js'
export { TurnCollector } from './turn-collector.js'
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
} from './agent/agent.js'
export { DEFAULT_ARM_LIMITS, PROTOCOLS } from './agent/protocol-arm.js'
export type {
  ArmConnection,
  ArmConnectOptions,
  ArmLimits,
  ArmSession,
  Launch,
  OpenSessionOptions,
  Protocol,
  ProtocolArm,
} from './agent/protocol-arm.js'
export { CONTINUATION_STRATEGIES } from './agent/adapter-catalog.js'
export type {
  AdapterCatalog,
  AdapterSessionPolicy,
  AdapterSummary,
  ContinuationStrategy,
} from './agent/adapter-catalog.js'
export { PROVISION_PHASES } from './wire/provisioning.js'
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
} from './wire/provisioning.js'
export type { SecretKind, SecretPlace, SecretStatus } from './agent/secret.js'
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
export { assertMayDecideAhead, assertMayUse, boundsOf, mayUse, visibleWorkspaces } from './wire/access.js'
export type { SessionBounds } from './wire/access.js'
export type { OutputItem, OutputLine } from './output-line.js'
export {
  ARCHIVE_BOUNDS,
  exportQuerySchema,
  pruneRequestSchema,
  repairQuerySchema,
  searchQuerySchema,
  transcriptQuerySchema,
} from './wire/archive-requests.js'
export type { ExportFormat, PruneRequest, SearchQuery } from './wire/archive-requests.js'
export type {
  ExportHead,
  PruneResult,
  RepairFinding,
  RepairReport,
  SearchHit,
  UnreadableEvents,
  SearchResult,
  SessionArchive,
  TurnTranscript,
} from './wire/session-archive.js'
export { isTerminalRecord } from './wire/session-service.js'
export type {
  EventReader,
  HookStop,
  KillReason,
  OutputReader,
  RequestKey,
  SessionChange,
  Interrupted,
  SessionPage,
  SessionService,
  SessionWatcher,
} from './wire/session-service.js'
export {
  addRuleSchema,
  answerRequestSchema,
  BOUNDS,
  configRequestSchema,
  contentBlockSchema,
  delegationSchema,
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
  spawnAgentSchema,
  toAgentAnswer,
  turnQuerySchema,
  turnsQuerySchema,
} from './wire/requests.js'
export type {
  AddRuleRequest,
  AnswerRequest,
  DelegationRequest,
  ConfigRequest,
  ForkRequest,
  InterruptRequest,
  PromptRequest,
  ResumeRequest,
  SessionFilter,
  SpawnAgentRequest,
  TurnQuery,
} from './wire/requests.js'
export { parseWire } from './wire/parse-wire.js'
export { asList, asNumber, asRecord, asString, defined, isRecord } from './json.js'
export type { Defined, Json } from './json.js'
export { homeFrom, homeLayout } from './agent/home-layout.js'
export type { DaemonRecord, HomeLayout } from './agent/home-layout.js'
export {
  addAdapterSchema,
  addWorkspaceSchema,
  createTokenSchema,
  doctorRequestSchema,
  provisionRequestSchema,
} from './wire/host-requests.js'
