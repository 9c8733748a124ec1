// The vocabulary of agentproto. This file is the package's contract: every export is named here.
export { AgentprotoError, ERRORS, EXIT, fromProblem, isAgentprotoError, toAgentprotoError } from './errors.js'
export type { ErrorCode, ErrorParts, ErrorRow, Problem } from './errors.js'
export { FairShares } from './fair-shares.js'
export { pause, randomId, settlesWithin, systemClock } from './clock.js'
export type { Clock, NewId, Timer } from './clock.js'
export { promptText, TOOL_KINDS } from './content.js'
export type { ToolContent, ToolKind, ToolLocation } from './content.js'
export type { ContentBlock } from './wire/content-block.js'
export { STREAM_EVENT_CHECKS, STREAM_EVENT_TYPES, TOKEN_KINDS, TURN_END_REASONS } from './stream-event.js'
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
  RequestFacts,
  RequestPath,
  RequestVariable,
} from './agent-request.js'
export { hasSecondStep, permissionChoices, questionChoices } from './requests/permission-choices.js'
export type { Choice, ChoiceContext } from './requests/permission-choices.js'
export { emptyValue, formFields, readNumber, unknownChoice } from './requests/question-form.js'
export type { FormField, FormValue } from './requests/question-form.js'
export {
  hostText,
  jsonText,
  PERMISSION_OPTION_TEXT,
  planText,
  ruleText,
  TOOL_KIND_TEXT,
  toolContentText,
  toolInputText,
} from './requests/request-text.js'
export type { Quote } from './requests/request-text.js'
export { plainLine } from './plain-line.js'
export { RULE_LIFETIMES } from './permission-rule.js'
export type { RuleLifetime, RuleScope } from './permission-rule.js'
export { CHECKPOINT_SKIP_REASONS, HOST_EVENT_CHECKS, HOST_EVENT_TYPES } from './host-event.js'
export type {
  AgentPromptResolved,
  CheckpointSkipped,
  CheckpointSkipReason,
  CheckpointTaken,
  HostEvent,
  HostEventType,
  IdempotencyDigests,
  PromptContextPart,
  Repair,
  PermissionModeChange,
  Rewound,
  RuntimeProgress,
  RuntimeWarning,
  SessionStopped,
  StatusChange,
  UserPrompt,
} from './host-event.js'
export type { Envelope, EventGap, GapNotice, SessionEvent, SessionEventType } from './event-log.js'
export { NOTIFICATION_TYPES, NOTIFY_EVENTS } from './notification.js'
export type { Notification, NotificationData, NotifyEvent } from './notification.js'
export { everySession } from './every-session.js'
export { loginRefusal } from './agent/login-refusal.js'
export { isDecision, summaryOf } from './session-summary.js'
export type { SessionSummary } from './session-summary.js'
export {
  FAILURE_KINDS,
  HOST_LOSS_POLICIES,
  isLive,
  MAX_FAILED_RESUMES,
  SESSION_HEALTHS,
  SESSION_STATE_TEXT,
  SESSION_STATES,
  SESSION_STATUSES,
  STOP_REASON_TEXT,
  STOP_REASONS,
} from './session.js'
export type {
  AgentCapabilities,
  AgentInfo,
  DelegationGrant,
  FailureKind,
  HostLossPolicy,
  Session,
  SessionFailure,
  SessionHealth,
  ContextDelivery,
  SessionImport,
  SessionReview,
  SessionSandbox,
  SessionWorktree,
  SessionStateName,
  SessionStatus,
  SessionTurn,
  StopReason,
  StoredAgentSession,
} from './session.js'
export type {
  OutputLine,
  PermissionRule,
  QueuedTurn,
  SessionRequest,
  Turn,
  TurnDetail,
  TurnResult,
} from './wire/session-responses.js'
export type { RuleMatch } from './wire/rule-match.js'
export { TurnCollector } from './turn-collector.js'
export { addGap, TURN_BOUNDS, TurnParts } from './turn-parts.js'
export type { PartCut, PlanPart, TextPart, ToolPart, TurnOutput, TurnPart } from './turn-parts.js'
export { NO_WORKSPACE } from './workspace.js'
export type { ResolvedCwd, WorkspaceResolver, WorkspaceService } from './workspace.js'
export type {
  BrowserCode,
  CreatedTokens,
  NamedToken,
  NewToken,
  RotatedToken,
  Workspace,
  WorkspacesFile,
} from './wire/host-responses.js'
export type { BrowserLogin, EndOptions, TokenRequest, TokenService } from './wire/token-service.js'
export { TOKEN_SHAPE } from './token-shape.js'
export { traceIdOf, traceOf } from './trace-context.js'
export type { TraceCarrier, TraceContext } from './trace-context.js'
export { SCOPES } from './principal.js'
export type { Authenticate, Principal, Refusal, Scope, SessionPrincipal, TokenPrincipal } from './principal.js'
export type { OutputItem } from './output-line.js'
export { asList, asNumber, asRecord, asString, defined, isRecord, parseJson } from './json.js'
export type { Defined, Json } from './json.js'
export { addCost, addUsage, NO_USAGE } from './usage-sum.js'
export type { Budget, Cost, LoopLimits, Usage } from './usage.js'
