// What arms, adapters, stores and sandboxes implement. Every export is named here.
export { AGENT_CASE_IDS, type AgentCaseId } from './agent/agent-case-ids.js'
export type { AdoptAgent, AdoptAgentOptions, AdoptedAgent } from './agent/adopted-agent.js'
export type {
  AgentEnd,
  AgentProcessInfo,
  AgentSignal,
  AgentSink,
  AskOptions,
  ConfigChange,
  McpServer,
  ProcessExit,
  RepositoryAccess,
  RunningAgent,
  SessionOrigin,
  StartAgent,
  StartAgentOptions,
  StdioMcpServer,
} from './agent/agent.js'
export type {
  AgentCliAdapter,
  AgentCliCapabilities,
  AgentCliClient,
  AgentCliConnectOptions,
  AgentCliEnd,
  AgentCliEvent,
  AgentCliInfo,
  AgentCliKeep,
  AgentCliReattached,
  AgentCliReattachOptions,
} from './agent/agent-cli-client.js'
export { DEFAULT_ARM_LIMITS, PROTOCOLS } from './agent/protocol-arm.js'
export { REGISTRY_WAYS, type RegistryWay } from './agent/registry-ways.js'
export { KEPT_STREAMS, sessionKeyOf, turnKeyOf } from './agent/kept-agent.js'
export type { Launch } from './agent/launch.js'
export type {
  AgentGuard,
  AgentKeeper,
  KeptAgent,
  KeptLoss,
  KeptRange,
  KeptStream,
  StreamOffsets,
} from './agent/kept-agent.js'
export { keptFactsText, MAX_FACTS_BYTES, readKeptFacts } from './agent/kept-facts.js'
export type { KeptFacts } from './agent/kept-facts.js'
export { readSharedFacts, sharedFactsText } from './agent/shared-facts.js'
export type { SharedFacts, SharedSession, StreamLines, StreamPlace } from './agent/shared-facts.js'
export type {
  AdoptedProcess,
  AdoptedSession,
  ArmAdoptOptions,
  ArmConnection,
  ArmConnectOptions,
  ArmLimits,
  ArmSession,
  OpenSessionOptions,
  Protocol,
  ProtocolArm,
  RunningTurn,
} from './agent/protocol-arm.js'
export { EventQueue } from './agent/event-queue.js'
export { CONTINUATION_STRATEGIES } from './agent/adapter-catalog.js'
export type { AdapterSessionPolicy, ContinuationStrategy } from './agent/adapter-catalog.js'
export type { AdapterCatalog } from './wire/provisioning.js'
export { ENDINGS } from './agent/agent-ending.js'
export type { Ending } from './agent/agent-ending.js'
export type { AgentObservation, FailedObservation, ObservedAgent } from './wire/agent-observation.js'
export type { AdapterOption, AdapterSummary, SecretKind, SecretPlace, SecretStatus } from './wire/host-responses.js'
export { transcriptPreamble } from './agent/transcript.js'
export type { TranscriptTurn } from './agent/transcript.js'
export { homeFrom, homeLayout } from './agent/home-layout.js'
export type { DaemonRecord, HomeLayout } from './agent/home-layout.js'
export type { EventBatch, EventRecord, EventStore, LogCondition, StoredLog } from './event-log.js'
export type {
  MeteredTurn,
  RuleStore,
  SessionStore,
  StoredKept,
  StoredPrompt,
  StoredSession,
  StoredSpawn,
  UsageMeter,
} from './session-store.js'
export type { AddressReach } from './agent/address-reach.js'
export { CHANGE_STATUSES, KEPT_REASONS, LEFT_OUT_REASONS, NOW, SKIP_REASONS } from './agent/change-store.js'
export type {
  Abortable,
  ChangeList,
  ChangeStatus,
  ChangeStore,
  ChangeTotals,
  Checkpoint,
  CheckpointRequest,
  CheckpointResult,
  CopyRequest,
  FileChange,
  FolderChanges,
  KeptPath,
  KeptReason,
  LeftOut,
  LeftOutReason,
  Patch,
  PatchRequest,
  PruneRequest,
  PruneResult,
  RewindRequest,
  RewindResult,
  SkipReason,
  StateRef,
  StoreSize,
} from './agent/change-store.js'
export { MERGE_STRATEGIES } from './agent/worktrees.js'
export type { SessionWorktrees, StoredWorktree, WorktreePreparation } from './agent/session-worktrees.js'
export type { LostSession, MovedSettings, RunTimes, SessionMoves, Suspension } from './agent/session-moves.js'
export type { SessionReplay, SharedLog } from './agent/session-replay.js'
export type {
  CreateWorktree,
  FetchBranch,
  FetchedBranch,
  MergeResult,
  MergeStrategy,
  MergeWorktree,
  RepositoryFolders,
  Worktree,
  Worktrees,
  WorktreeStatus,
} from './agent/worktrees.js'
