import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERRORS, HOST_EVENT_TYPES, STREAM_EVENT_TYPES } from '@agentproto/contracts'
import { createMcpEndpoint } from '@agentproto/mcp-tools'
import type { McpDeps } from '@agentproto/mcp-tools'
import { expect, test } from 'vitest'
import { createProgram } from '../../packages/cli/src/program.ts'
import { exportedNames } from '../exported-names.ts'
import { codeRows, page } from '../markdown.ts'
import { ROOT, workspacePackages } from '../packages.ts'
import type { WorkspacePackage } from '../packages.ts'

// What others build upon, as literals: a change here is a change for them, and belongs into a changeset.
// `npx vitest run tooling/test/surface -u` writes what is there now; read the difference.

test('the packages, their entry points and their programs', () => {
  const lines = workspacePackages().map(({ name, exports, bin }) => [name, ...exports, ...bin].join(' '))
  expect(text(lines)).toMatchInlineSnapshot(`
    "@agentproto/acp-registry . ./package.json
    @agentproto/acp-server . ./package.json
    @agentproto/adapter-gemini-cli . ./package.json
    @agentproto/adapter-pty-repl . ./package.json
    @agentproto/adapters . ./package.json
    @agentproto/arm-testing . ./cases ./behaviours ./package.json
    @agentproto/changes . ./testing ./package.json
    @agentproto/cli ./package.json agentproto
    @agentproto/client . ./package.json
    @agentproto/console . ./package.json
    @agentproto/contracts . ./wire ./agent ./package.json
    @agentproto/demo-agent . ./package.json agentproto-demo-agent
    @agentproto/driver-agent-cli . ./installation ./package.json
    @agentproto/fleet . ./parts ./package.json
    @agentproto/gateway-http . ./openapi ./package.json
    @agentproto/json-file . ./package.json
    @agentproto/keeper . ./testing ./package.json agentproto-keeper
    @agentproto/manifest . ./node ./schemas/*.schema.json ./package.json
    @agentproto/mcp-tools . ./package.json
    @agentproto/provisioning . ./launch ./doctor ./publish-check ./catalog ./package.json
    @agentproto/runtime . ./package.json
    @agentproto/sandbox . ./package.json
    @agentproto/secrets . ./package.json
    @agentproto/server . ./audit ./home ./package.json
    @agentproto/session-registry . ./testing ./package.json
    @agentproto/subprocess . ./package.json
    @agentproto/workspaces . ./package.json
    @agentproto/acp . ./package.json
    @agentproto/arm-kit . ./package.json
    @agentproto/arm-mcp . ./package.json
    @agentproto/arm-proprietary . ./package.json"
  `)
})

test('all packages have one version, as docs/decisions/one-version.md says', () => {
  const versions = workspacePackages().map(({ version }) => version)
  expect([...new Set(versions)]).toHaveLength(1)
})

test('what each package exports', () => {
  expect(text(workspacePackages().flatMap(exportsOf))).toMatchInlineSnapshot(`
    "@agentproto/acp-registry
      AdapterFiles BinaryDistribution DOWNLOAD_FORMATS Distribution DistributionChoice DownloadFormat
      EntrySource EntryVariables Icons IconsOptions InstallPlatform InstallTools ManifestOptions
      NpmDistribution PUBLIC_REGISTRY ProgramLaunch PythonDistribution REGISTRY_BYTES_MAX
      REGISTRY_PLATFORMS ReadOptions RefusedWay Registry RegistryBinary RegistryDistribution RegistryEntry
      RegistryLaunch RegistryOptions RegistryPackage RegistryPlatform RegistryProblem RegistryReader
      RegistrySnapshot distributionFor isAsWritten manifestOf openIcons openRegistry parseRegistry
      readRegistryFile variablesOf
    @agentproto/acp-server
      AcpConnectionState AcpEndpoint AcpEndpointDeps AcpLimits AcpLogin AcpOpenRequest AcpOpened AcpServer
      AcpServerOptions AcpSessions AcpWatchOptions AdapterNaming EndpointSessions SessionDefaults
      WantedSession createAcpEndpoint createAcpServer onlyInstalled reportedCapabilities wantedSession
    @agentproto/adapter-gemini-cli
      GeminiCliAdapter
    @agentproto/adapter-pty-repl
      PtyReplAdapter
    @agentproto/adapters
      catalogPath readCatalogue
    @agentproto/arm-testing
      ArmSubject RecordingSink StartName TurnName fixtureAgentPath fixtureLaunch launchOf leftovers
      testArm
    @agentproto/changes
      ChangeLimits ChangeStoreOptions DEFAULT_LIMITS PreparationOptions WorktreesOptions createChangeStore
      createPreparation createWorktrees
    @agentproto/changes/testing
      ChangeStoreSubject testChangeStore
    @agentproto/client
      AdapterOption AdapterSummary AdaptersClient AddRuleRequest AgentprotoError AnswerRequest
      ArchiveClient BrowserCodeRequest CallOptions Caller Client ClientOptions ConfigRequest
      ConnectionState ErrorCode EventGap EventsPage Fetch FetchInit FetchReader FetchResponse
      FollowEventsOptions FollowOptions FollowOutputOptions ForkRequest GatewayAddress Health KillReason
      NotificationsClient OnConnectionState OutputItem OutputLine PermissionMode PermissionRule
      PermissionsClient Problem PromptAccepted PromptRequest RuleScope Session SessionChange SessionEvent
      SessionFilter SessionPage SessionRequest SessionStatus SessionsClient SpawnAgentRequest TraceContext
      Turn TurnResult WatchOptions Workspace WorkspacesClient WorkspacesFile createClient
      isAgentprotoError
    @agentproto/console
      consoleFolder
    @agentproto/contracts
      AgentAnswer AgentCapabilities AgentCommand AgentConfig AgentInfo AgentMode AgentNotice AgentPrompt
      AgentPromptResolved AgentRequest AgentprotoError AnsweredBy Authenticate BrowserCode BrowserLogin
      Budget CHECKPOINT_SKIP_REASONS CheckpointSkipReason CheckpointSkipped CheckpointTaken Choice
      ChoiceContext Clock ConfigOption ContentBlock ContextDelivery Cost CreatedTokens Defined
      DelegationGrant ERRORS EXIT EndOptions Envelope ErrorCode ErrorParts ErrorRow EventGap FAILURE_KINDS
      FailureKind FairShares FormField FormValue GapNotice HOST_EVENT_CHECKS HOST_EVENT_TYPES
      HOST_LOSS_POLICIES HostEvent HostEventType HostLossPolicy IdempotencyDigests Json LoopLimits
      MAX_FAILED_RESUMES NOTIFICATION_TYPES NOTIFY_EVENTS NO_USAGE NO_WORKSPACE NamedToken NewId NewToken
      Notification NotificationData NotifyEvent OutputItem OutputLine PERMISSION_MODES
      PERMISSION_OPTION_KINDS PERMISSION_OPTION_TEXT PartCut PermissionMode PermissionModeChange
      PermissionOption PermissionOptionKind PermissionRequest PermissionRule PlanEntry PlanPart Principal
      Problem PromptContextPart QuestionRequest QueuedTurn Quote REQUEST_STATES RULE_LIFETIMES Refusal
      Repair RequestFacts RequestPath RequestVariable ResolvedCwd Rewound RotatedToken RuleLifetime
      RuleMatch RuleScope RuntimeProgress RuntimeWarning SCOPES SESSION_HEALTHS SESSION_STATES
      SESSION_STATE_TEXT SESSION_STATUSES STOP_REASONS STOP_REASON_TEXT STREAM_EVENT_CHECKS
      STREAM_EVENT_TYPES Scope Session SessionEvent SessionEventType SessionFailure SessionHealth
      SessionImport SessionPrincipal SessionRequest SessionReview SessionSandbox SessionStateName
      SessionStatus SessionStopped SessionSummary SessionTurn SessionWorktree StatusChange StopReason
      StoredAgentSession StreamError StreamEvent StreamEventType TOKEN_KINDS TOKEN_SHAPE TOOL_KINDS
      TOOL_KIND_TEXT TURN_BOUNDS TURN_END_REASONS TextDelta TextPart Thought Timer TokenPrincipal
      TokenRequest TokenService TokenUsage ToolCall ToolContent ToolKind ToolLocation ToolPart ToolResult
      TraceCarrier TraceContext Turn TurnCollector TurnDetail TurnEnd TurnEndReason TurnOutput TurnPart
      TurnParts TurnResult Usage UserPrompt Workspace WorkspaceResolver WorkspaceService WorkspacesFile
      addCost addGap addUsage asList asNumber asRecord asString defined emptyValue everySession formFields
      fromProblem hasSecondStep hostText isAgentprotoError isDecision isLive isRecord jsonText
      loginRefusal parseJson pause permissionChoices plainLine planText promptText questionChoices
      randomId readNumber ruleText settlesWithin summaryOf systemClock toAgentprotoError toolContentText
      toolInputText traceIdOf traceOf unknownChoice
    @agentproto/contracts/wire
      ACP_BOUNDS ACP_METHODS ARCHIVE_BOUNDS AcpCaller AcpMethod AcpService AcpSocket AcpUpgrade
      AdapterService AdapterState AdapterUpdate AdapterUpdates AddAgentEvent AddAgentRequest
      AddRuleRequest AddWorkspaceRequest AddedAgent AgentPlan AgentSearch AgentWish AllRules Answer
      AnswerRequest AuthState BOUNDS BodyOf BrowserCodeRequest CHANGE_BOUNDS Caller ChangeService
      ChangesQuery ComparedState ConfigRequest ConsoleFile ConsoleFiles DelegationRequest
      DiscardWorktreeRequest DoctorCheck DoctorReport DoctorRequest DropReason EventReader EventsPage
      ExportFormat ExportHead FleetIds FleetState Forgotten ForkRequest FoundAgent FoundAgents GatewayInfo
      HookStop Host HostService InterruptRequest Interrupted JsonOf KillReason LostRecord
      MergeWorktreeRequest MergedWorktree NotificationService NotificationState NotificationTest
      NotifyTarget OPERATIONS OUTPUT_CURSOR Operation OutdatedQuery OutputReader PENDING_CHANGES_MAX
      ParamsOf PatchQuery PendingChanges PermissionService PlacedRule PromptAccepted PromptRequest
      Prompted ProvisionEvent ProvisionPhase ProvisionRequest PruneRequest PruneResult QueryOf Reader
      RegistryState RenameRequest RepairFinding RepairReport RequestKey RequestPage ResumeRequest
      ReviewedRequest RewindFilesRequest RewoundFiles Route SearchHit SearchQuery SearchResult
      ServiceMethod Services SessionArchive SessionBounds SessionChange SessionChanges SessionFilter
      SessionPage SessionService SessionWatcher SetupInput SetupStepState SpawnAgentRequest StateName
      StreamStats TOOLS TOOL_OUTPUT_LINES TOOL_WAIT_SECONDS TOOL_WAIT_SESSIONS ToolDefinition ToolInput
      ToolName TurnQuery TurnTranscript USAGE_BOUNDS USAGE_GROUPS UnreadableEvents UpdateAgentRequest
      UsageGroup UsageQuery UsageReport UsageReportRow UsageService WaitingQuery WorktreeRequest
      WorktreeService addRuleSchema answerRequestSchema assertMayDecideAhead assertMayUse boundsOf
      budgetSchema configRequestSchema contentBlockSchema coversWorkspace createTokenSchema eventSchema
      hasEndedBefore isAcpPath isInFolder isWithinBounds isWithinDepth listQuerySchema loopsSchema
      lostSessionSchema matchesFilter mayUse mcpServerSchema movedSettingsSchema observedAgentSchema
      operationOf parseWire permissionModeSchema promptRequestSchema promptSchema registryOriginSchema
      scopeOfRoute sessionSchema spawnAgentSchema toAgentAnswer tokenEnded visibleHosts visibleWorkspaces
      whileTokenIsValid
    @agentproto/contracts/agent
      AGENT_CASE_IDS Abortable AdapterCatalog AdapterOption AdapterSessionPolicy AdapterSummary
      AddressReach AdoptAgent AdoptAgentOptions AdoptedAgent AdoptedProcess AdoptedSession AgentCaseId
      AgentCliAdapter AgentCliCapabilities AgentCliClient AgentCliConnectOptions AgentCliEnd AgentCliEvent
      AgentCliInfo AgentCliKeep AgentCliReattachOptions AgentCliReattached AgentEnd AgentGuard AgentKeeper
      AgentObservation AgentProcessInfo AgentSignal AgentSink ArmAdoptOptions ArmConnectOptions
      ArmConnection ArmLimits ArmSession AskOptions CHANGE_STATUSES CONTINUATION_STRATEGIES ChangeList
      ChangeStatus ChangeStore ChangeTotals Checkpoint CheckpointRequest CheckpointResult ConfigChange
      ContinuationStrategy CopyRequest CreateWorktree DEFAULT_ARM_LIMITS DaemonRecord ENDINGS Ending
      EventBatch EventQueue EventRecord EventStore FailedObservation FetchBranch FetchedBranch FileChange
      FolderChanges HomeLayout KEPT_REASONS KEPT_STREAMS KeptAgent KeptFacts KeptLoss KeptPath KeptRange
      KeptReason KeptStream LEFT_OUT_REASONS Launch LeftOut LeftOutReason LogCondition LostSession
      MAX_FACTS_BYTES MERGE_STRATEGIES McpServer MergeResult MergeStrategy MergeWorktree MeteredTurn
      MovedSettings NOW ObservedAgent OpenSessionOptions PROTOCOLS Patch PatchRequest ProcessExit Protocol
      ProtocolArm PruneRequest PruneResult REGISTRY_WAYS RegistryWay RepositoryAccess RepositoryFolders
      RewindRequest RewindResult RuleStore RunTimes RunningAgent RunningTurn SKIP_REASONS SecretKind
      SecretPlace SecretStatus SessionMoves SessionOrigin SessionReplay SessionStore SessionWorktrees
      SharedFacts SharedLog SharedSession SkipReason StartAgent StartAgentOptions StateRef StdioMcpServer
      StoreSize StoredKept StoredLog StoredPrompt StoredSession StoredSpawn StoredWorktree StreamLines
      StreamOffsets StreamPlace Suspension TranscriptTurn UsageMeter Worktree WorktreePreparation
      WorktreeStatus Worktrees homeFrom homeLayout keptFactsText readKeptFacts readSharedFacts
      sessionKeyOf sharedFactsText transcriptPreamble turnKeyOf
    @agentproto/demo-agent
      demoAgentPath
    @agentproto/driver-agent-cli
      AgentCliClient AgentCliHandle AgentCliSource AgentCommand AgentHost AgentLogin AllowedAdapter
      AskLogins AskedAgent ContinuationOptions DescribeAgent FirstStarts LaunchOptions LaunchProvisioning
      ObserveAgent Session SessionCallbacks SharedProcesses SpawnGate SpawnProvision StartOptions
      StreamEvent TranscriptTurn adoptAgent declaredSecrets defineAgentCli describeAgent inScratchHome
      launchAgent loadAddressReach loadAgentCli locateAgent observeAgent sessionPolicy withAgentLogins
    @agentproto/driver-agent-cli/installation
      CheckedEndpoint FolderOwner LocatedAgent OWNER ReachedEndpoint agentHome agentPrefix consentedPlace
      declaredSecrets disown endpointPlace endpointSecrets findAgent findInPrefix guardEndpoint
      launchHints makeOwned newestOf own ownerOf programFolders reachEndpoint removeFolder
      removeLeftFolder removeLeftScratch removeOwned secretVariables
    @agentproto/fleet
      ClusterFindings Fleet FleetFigures FleetOptions OwnHost SharedServices createFleetKey examineCluster
      openFleet readFleetKey
    @agentproto/fleet/parts
      Cluster FleetLog FleetLogOptions FleetServices FleetServicesOptions FleetView Follow HostDetails
      HostDirectory HostDirectoryOptions HostListener HostRecord KnownHost LeaseTimes LogLimits LogOfAll
      LogPublisher LogPublisherOptions LogStreamOptions Publication PublicationEnd SessionDirectory
      SessionDirectoryOptions SessionRecord StoredHeaders StoredSignatures Unsigned fleetServices
      fleetView openCluster openLogStream
    @agentproto/gateway-http
      HttpApp HttpDeps createHttpApp
    @agentproto/gateway-http/openapi
      OpenApiOptions OpenApiSchemas openApiDocument
    @agentproto/json-file
      Changed JsonFile JsonFileOptions LockRules
    @agentproto/keeper
      HomeKeeper KeeperInfo KeeperOptions ListedAgent connectKeeper guardsIn lookAtKeeper openKeeper
      speaksOtherWire
    @agentproto/keeper/testing
      KeeperBounds KeeperSubject RunningKeeper testKeeper
    @agentproto/manifest
      AcpAgentCapabilities AcpProfile AcpTier AgentAnswers AgentCliDocument AgentCliManifest AgentEndpoint
      Auth CompiledLaunch Continuation ContinuationStrategy GatewayConfig INSTALL_METHODS InstallMethod
      KeyScope LaunchRequest MANIFEST_NAMES ManifestName ManifestProblem Option OptionValue
      PACKAGE_MANAGERS PROBLEM_CODES PackageManager ParseAgentCliOptions ParseOptions ParseResult
      ProblemCode SANDBOX_PROVIDERS SCHEMA_FILES SandboxProfile SchemaFile SecretDeclaration
      SecretsManifest SetupStep TemplateOptions answersOf compileLaunch configSchema declaredVariables
      fillSecrets fillTemplate formatProblem isAdapterId isSecretVariable manifestTemplate observedBlock
      observedMembers ownModes parseAcp parseAgentCli parseConfig parseRunner parseSandbox parseSecrets
      remoteAddress
    @agentproto/manifest/node
      CheckedFile FoundVersion GivenText LoadedAgentCli ReadAgentCliOptions ReadResult checkManifestFiles
      checkManifestText findManifests findVersion readAgentCli readSchema schemaPath
    @agentproto/mcp-tools
      McpDeps McpEndpoint McpStdio McpStdioOptions ToolSessions createMcpEndpoint serveMcpStdio
    @agentproto/provisioning
      AdapterTexts EndpointParts EndpointPlan EndpointWish FoundTools NpmPackage NpmWish OauthParts
      ProvisionHost Provisioner Question Terminal TerminalProgram addAdapter addAdapterFiles addEndpoint
      createProvisioner findInstallTools lookUpNpm planEndpoint
    @agentproto/runtime
      ClusterOptions DEFAULT_PORT DescribeAgent EndpointPlan EndpointWish Endpoints ExaminedFleet FleetKey
      Gateway GatewayHooks GatewayOptions GatewayStores Hook HookContext HookDenial KeeperOptions
      ListenOptions LogLevel LogOptions NotifyOptions OpenAdaptersOptions OutboxLimits PromptAttempt
      PublishCheckId PublishFinding PublishOptions PublishReport PublishTarget Question RequestAsked
      SpawnAttempt Terminal TlsOptions WebhookOptions createGateway describeAgent endKeptAgents
      examineFleet fleetKey openAdapters openAgentRegistry openEndpoints openPublishCheck openTokens
      publishReportOf version
    @agentproto/sandbox
      ConfinedLaunch ConfinementProfile HeldSandbox HoldRequest KeptSandbox PreparedLaunch
      RegisteredProvider SandboxMount SandboxProvider SandboxRequest Sandboxes SandboxesOptions
      addressReach createSandboxes
    @agentproto/secrets
      DeclaredSecret GatewayTokens Keyring KeyringOptions OauthValue REDACTABLE_CHARS_MIN Redactor
      ResolvedSecret SecretValue Secrets SecretsOptions SetOptions StoredGateway createGatewayTokens
      createRedactor createSecrets isSecretSlug openKeyring parseSecretValue
    @agentproto/server
      Access Audit DEFAULT_PORT GatewayHooks GatewayLog GatewayRuns HomeLock HomeRecord HomeUpgrade
      HomeWriter Hook HookContext HookDenial Hooks HostNames HostOf ListenOptions Listeners LogLevel
      LogOptions Metrics Notifier NotifierOptions NotifyOptions OfflineOptions OpenHomeOptions
      OpenTokensOptions OutboxLimits OwnHostOptions OwnHostService PrepareHomeOptions PromptAttempt
      RequestAsked RestartableListenOptions SpawnAttempt TlsOptions WebhookOptions assertHomeReadable
      browserCodes openAccess openAudit openHome openOfflineAudit openTokens ownHost prepareHome recordRun
      withKeptToken withSessionToken wrapMethods
    @agentproto/server/audit
      OfflineOptions auditOffline
    @agentproto/server/home
      HOME_FORMAT HomeBackup HomeRecord HomeUpgrade HomeWriter PrepareHomeOptions assertHomeReadable
      homeBackups lockBriefly prepareHome
    @agentproto/session-registry
      BudgetConfig CloseOptions CountedSessions CrashBundle CrashBundleStore DEFAULT_REGISTRY_CONFIG
      FileCrashBundles FileEventStore FileEventStoreOptions FileRuleStore FileRuleStoreOptions
      FileSessionStore FileSessionStoreOptions FileUsageStore FileUsageStoreOptions GateVerdict
      MemoryEventStore MemoryRuleStore MemorySessionStore MemoryUsageStore RegistryConfig RequestGate
      SessionRegistry SessionRegistryOptions TRANSITIONS Transition UsageRow UsageStore
      openSessionRegistry sessionReplay
    @agentproto/session-registry/testing
      StoreSubject testEventStore testSessionStore
    @agentproto/subprocess
      AgentProcess EndingWatch EnvironmentParts EnvironmentPolicy ExecutableSearch Graces KeptProcess
      LineSplitter MAX_LINE_BYTES MarkedProcess ProcessRow RecordedProcess SESSION_MARKER SpawnOptions
      TakeLines buildEnvironment checkFolder checkLaunch commandFor endProcesses environmentOf
      findExecutable findMarkedProcesses hasSurelyEnded healPath identify isSecretName keptProcess
      processName recordedProcess spawnAgentProcess spawnFailure
    @agentproto/workspaces
      TrustedFolder WorkspaceTrust WorkspacesOptions createWorkspaceTrust createWorkspaces
    @agentproto/acp
      AcpArmProfile AcpClient AcpClientOptions AcpConnection AcpHandle AcpProfile AuthMethod
      EndpointAccess ProcessWatch RemoteEndpoint TurnOutcome acpArm adoptAcp adoptSharedAcp connectAcp
      defineAcp
    @agentproto/arm-kit
      AdoptedState AdoptingClient Conversation EarlierHost EarlierRequest IdlePoint IdleSubject
      Inheritance KeptLink Limit LineClient NEW_CONVERSATION NO_CAPABILITIES ProcessConnection
      ProcessWatch Reply SharedInheritance SharedMember SharedPoints SharedSessionState SharedState
      SharedSubject SharingClient TOOL_STATUSES ToolUpdate Turn TurnMethods TurnOutcome UserAsk Verdict
      WriteLine adoptProcess adoptShared adoptedSession connectProcess elicitationResult exitMessage
      flushAll isContentBlock isRequestId notAdoptable notResumable parseLine promptError questionOf
      rpcErrorText startCancelled startFailure takeOrDrop within
    @agentproto/arm-mcp
      McpProfile McpProfileInput connectMcp mcpArm parseProfile
    @agentproto/arm-proprietary
      AllowedAdapter ProprietaryProfile adoptProprietary connectProprietary proprietaryArm"
  `)
})

test('the error codes', () => {
  expect(text(wrapped(Object.keys(ERRORS)))).toMatchInlineSnapshot(`
    "invalid_request invalid_json unauthorized forbidden host_not_allowed origin_not_allowed
    route_not_found method_not_allowed payload_too_large unsupported_media_type session_not_found
    turn_not_found request_not_found rule_not_found adapter_not_found icon_not_found adapter_exists
    adapter_edited workspace_not_found token_not_found token_exists label_in_use workspace_exists
    workspace_invalid cwd_invalid cwd_not_allowed path_invalid host_not_found manifest_invalid
    protocol_unsupported mode_unknown option_invalid continuation_unsupported sandbox_unavailable
    sandbox_read_only no_adapter_installed agent_not_installed auth_required setup_required
    endpoint_not_allowed turn_in_progress queue_full token_limit_reached session_limit_reached
    stream_limit_reached request_limit_reached session_ended budget_exceeded session_starting
    session_live request_resolved request_interrupted rule_limit_reached not_supported not_resumable
    idempotency_conflict hook_stopped permission_denied empty_turn host_unreachable placement_refused
    delegation_denied cwd_outside_parent max_depth_exceeded child_quota_exceeded install_failed
    version_mismatch setup_failed provisioning_busy registry_unavailable registry_invalid
    secret_not_found checkpoint_not_found folder_in_use checkpoint_failed git_unavailable git_failed
    repository_invalid branch_invalid worktree_unsaved worktree_setup_failed merge_conflict
    checkout_dirty spawn_failed handshake_failed protocol_error prompt_failed agent_exited
    termination_failed timeout cancelled storage_failed storage_corrupt home_newer home_invalid
    home_upgrade_failed listen_failed daemon_not_running daemon_running keeper_unavailable
    cluster_unavailable cluster_unsupported host_name_in_use not_adoptable shutting_down internal"
  `)
})

test('the event types', () => {
  expect(text([...wrapped(STREAM_EVENT_TYPES), '', ...wrapped(HOST_EVENT_TYPES)])).toMatchInlineSnapshot(`
    "text-delta thought tool-call tool-result agent-prompt turn-end error

    user-prompt status agent-prompt-resolved plan usage config title output notice extension
    runtime-progress runtime-warning checkpoint checkpoint-skipped rewound repair session-stopped"
  `)
})

test('the commands of agentproto', async () => {
  const context = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: {}, cwd: ROOT }
  const program = await createProgram(context, () => () => Promise.resolve())
  expect(text(commandsOf(program, ''))).toMatchInlineSnapshot(`
    "agentproto [-V, --version]
    agentproto run [-p, --prompt <text>] [--cwd <folder>] [--mode <id>] [--instructions <text>] [--envelope] [-o, --option <key=value>] [--permissions <mode>] [--continuation <strategy>] [--budget-cost <amount>] [--budget-tokens <n>] [--budget-turns <n>] [--budget-minutes <n>] [--loop-stop <n>] [--request-timeout <seconds>] [--output <mode>] [--json] [--timeout <seconds>]
    agentproto sessions [-w, --watch] [-a, --attach [id]] [--sort <column>] [--alive] [--state <state>] [--workspace <slug>] [--adapter <slug>] [--label <label>] [--host <name>] [--since <time>] [--all] [--tree] [--json] [--no-start]
    agentproto sessions start [-p, --prompt <text>] [--cwd <folder>] [--workspace <slug>] [--label <text>] [--on <host>] [--worktree [branch]] [--base <ref>] [--on-host-loss <policy>] [--mode <id>] [--instructions <text>] [--envelope] [-o, --option <key=value>] [--permissions <mode>] [--continuation <strategy>] [--budget-cost <amount>] [--budget-tokens <n>] [--budget-turns <n>] [--budget-minutes <n>] [--loop-stop <n>] [--request-timeout <seconds>] [--delegate] [-a, --attach] [--json] [--no-start]
    agentproto sessions prompt [--when-busy <what>] [--wait] [--output <mode>] [--json] [--deny-requests] [--timeout <seconds>] [--no-start]
    agentproto sessions wait [--turn <number>] [--output <mode>] [--json] [--timeout <seconds>] [--no-start]
    agentproto sessions interrupt [--json] [--no-start]
    agentproto sessions resume [--fresh] [--continuation <strategy>] [--budget-cost <amount>] [--budget-tokens <n>] [--budget-turns <n>] [--budget-minutes <n>] [--json] [--no-start]
    agentproto sessions kill [--reason <reason>] [--json] [--no-start]
    agentproto sessions rm [--json] [--no-start]
    agentproto sessions show [--json] [--no-start]
    agentproto sessions config [--mode <id>] [--model <id>] [-o, --option <key=value>] [--permissions <mode>] [--json] [--no-start]
    agentproto sessions rename [--title <text>] [--label <text>] [--json] [--no-start]
    agentproto sessions fork [-p, --prompt <text>] [--label <text>] [--worktree [branch]] [--turn <number>] [--json] [--no-start]
    agentproto sessions diff [--turn <number>] [--since-review] [--stat] [--name-only] [--json] [--no-start]
    agentproto sessions review [--turn <number>] [--json] [--no-start]
    agentproto sessions rewind [--turn <number>] [--checkpoint <id>] [--dry-run] [--force] [--json] [--no-start]
    agentproto sessions merge [--strategy <name>] [-m, --message <text>] [--force] [--json] [--no-start]
    agentproto sessions discard [--force] [--json] [--no-start]
    agentproto sessions answer [--option <optionId>] [--allow] [--deny] [--content <json>] [--remember <lifetime>] [--reason <text>] [--json] [--no-start]
    agentproto sessions logs [-n, --lines <count>] [-f, --follow] [--json] [--no-start]
    agentproto sessions events [--after <seq>] [-f, --follow] [--json] [--no-start]
    agentproto sessions search [-n, --limit <count>] [--adapter <slug>] [--workspace <slug>] [--json] [--no-start]
    agentproto sessions export [--format <format>] [-o, --output <file>] [--force] [--no-start]
    agentproto sessions import [--json] [--no-start]
    agentproto sessions prune [--older-than <time>] [--dry-run] [--json] [--no-start]
    agentproto sessions repair [--dry-run] [--json] [--no-start]
    agentproto open [--scope <scope>] [--workspace <slug...>] [--no-browser] [--json] [--no-start]
    agentproto requests [-w, --watch] [--json] [--no-start]
    agentproto hosts [-w, --watch] [--json] [--no-start]
    agentproto hosts key [--show] [--json] [--no-start]
    agentproto usage [--by <what>] [--since <time>] [--from <day>] [--to <day>] [--json] [--no-start]
    agentproto serve [-d, --detach] [--port <port>] [--host <host>] [--allow-remote] [--tls-cert <file>] [--tls-key <file>] [--tls-client-ca <file>] [--cluster <urls>] [--cluster-creds <file>] [--cluster-nkey <file>] [--cluster-key <file>] [--cluster-tls-ca <file>] [--cluster-tls-cert <file>] [--cluster-tls-key <file>] [--host-name <name>] [--host-label <key=value>]
    agentproto status [--json]
    agentproto stop [--keep-agents] [--force] [--timeout <seconds>] [--json]
    agentproto restart [--end-agents] [--timeout <seconds>] [--json]
    agentproto logs [-n, --lines <count>] [-f, --follow] [--json]
    agentproto service
    agentproto service install [--print] [--manager <name>]
    agentproto service uninstall [--print] [--manager <name>]
    agentproto workspace
    agentproto workspace add [--slug <slug>] [--label <text>] [--use] [--json]
    agentproto workspace list [--json]
    agentproto workspace remove [--json]
    agentproto workspace show [--json]
    agentproto workspace use [--json]
    agentproto workspace trust [--json]
    agentproto workspace distrust [--json]
    agentproto adapters [--no-start]
    agentproto adapters list [--json] [--no-start]
    agentproto adapters show [--json] [--no-start]
    agentproto adapters search [--refresh] [--offline] [--from <file>] [--json] [--no-start]
    agentproto adapters add [--from <file>] [--as <slug>] [--sha256 <sum>] [--allow-unverified] [--allow-scripts] [--force] [--secret-header <header=slug>] [--allow-private] [--json] [--no-start]
    agentproto adapters outdated [--refresh] [--offline] [--json] [--no-start]
    agentproto adapters update [-y, --yes] [--sha256 <sum>] [--allow-unverified] [--allow-scripts] [--force] [--json] [--no-start]
    agentproto adapters remove [--json] [--no-start]
    agentproto adapters doctor [--live] [--prompt <text>] [--long-prompt <text>] [--json] [--no-start]
    agentproto adapters install [--force] [--latest] [--allow-unverified] [--json] [--no-start]
    agentproto adapters setup [--force] [--workspace <slug>] [--input <step=value>] [--json] [--no-start]
    agentproto adapters login [--force] [--json] [--no-start]
    agentproto adapters publish-check [--prompt <text>] [--prompt-long <text>] [--prompt-permission <text>] [--prompt-tool <text>] [--user-home] [--only <checks...>] [--from <file>] [--allow-scripts] [--turn-limit <seconds>] [--json] [--no-start]
    agentproto manifest
    agentproto manifest init [--protocol <protocol>] [--user-home] [--from <command...>] [--json]
    agentproto manifest validate [--as <name>] [--format <format>] [--json]
    agentproto manifest schema [--path] [--json]
    agentproto permissions [--no-start]
    agentproto permissions list [--session <id>] [--workspace <slug>] [--json] [--no-start]
    agentproto permissions allow [--session <id>] [--workspace <slug>] [--tool <kind>] [--path <pattern>] [--command <words>] [--once] [--json] [--no-start]
    agentproto permissions deny [--session <id>] [--workspace <slug>] [--tool <kind>] [--path <pattern>] [--command <words>] [--once] [--json] [--no-start]
    agentproto permissions remove [--session <id>] [--workspace <slug>] [--json] [--no-start]
    agentproto secrets
    agentproto secrets set [--store <store>] [--oauth] [--json]
    agentproto secrets list [--json]
    agentproto secrets rm [--json]
    agentproto acp [--adapter <slug>] [--session <id>] [--workspace <slug>] [--label <text>] [--mode <id>] [-o, --option <key=value>] [--permissions <mode>] [--remote <url>] [--allow-insecure] [--token [token]] [--login] [--no-start]
    agentproto mcp [--no-start]
    agentproto remote
    agentproto remote login [--store <store>] [--allow-insecure] [--json]
    agentproto remote list [--json]
    agentproto remote logout [--json]
    agentproto token [--no-start]
    agentproto token create [--name <name>] [--scope <scope>] [--workspace <slug...>] [--json] [--no-start]
    agentproto token list [--json] [--no-start]
    agentproto token revoke [--keep-created] [--json] [--no-start]
    agentproto token rotate [--keep-created] [--json] [--no-start]
    agentproto config
    agentproto config list [--json]
    agentproto config get [--json]
    agentproto config set [--json]
    agentproto config unset [--json]
    agentproto notify [--no-start]
    agentproto notify test [--json] [--no-start]
    agentproto notify status [--json] [--no-start]
    agentproto doctor [--json]
    agentproto support-bundle [--output <file>] [--json]
    agentproto completion
    agentproto complete"
  `)
})

test('the tools of MCP, which docs/mcp.md has too', async () => {
  const names = (await tools()).map(({ name }) => name)
  expect(text(wrapped(names))).toMatchInlineSnapshot(`
    "start_agent_session prompt_agent_session list_agent_sessions get_agent_session_output
    kill_agent_session get_agent_session wait_agent_turn interrupt_agent_session resume_agent_session
    answer_agent_request get_session_changes wait_for_sessions list_agent_adapters list_agent_workspaces
    list_agent_hosts"
  `)
  expect(codeRows(page(ROOT, 'docs/mcp.md')).map(([name]) => name)).toEqual(names)
})

test('docs/mcp.md names every argument of every tool', async () => {
  const rows = new Map(codeRows(page(ROOT, 'docs/mcp.md')).map(([name = '', takes = '']) => [name, takes]))
  const undocumented = (await tools()).flatMap(({ name, inputSchema }) =>
    Object.keys(inputSchema.properties ?? {}).flatMap((argument) =>
      // The arguments of a start are the fields of its HTTP body, which docs/http-api.md lists.
      new RegExp(`\\b${argument}\\b|the body of`).test(rows.get(name) ?? '') ? [] : [`${name} ${argument}`],
    ),
  )
  expect(undocumented).toEqual([])
})

test('exported names are found in each way of exporting', () => {
  const source = "export { a, type B } from './a.js'\nexport type { C as D } from './c.js'\nexport const e = 1\n"
  expect(exportedNames(source)).toEqual(['a', 'B', 'D', 'e'])
  expect(exportedNames(`${source}export * from './f.js'`)).toContain("export * from './f.js'")
})

/** Asks the endpoint for its list as a client would. No service is ever called. */
async function tools(): Promise<readonly ListedTool[]> {
  const endpoint = createMcpEndpoint({ version: '0.0.0' } as Partial<McpDeps> as McpDeps)
  const request = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  const answer = await endpoint.fetch(request, { type: 'owner', name: 'owner' })
  const message = /\{.*\}/s.exec(await answer.text())?.[0] ?? '{}'
  await endpoint.close()
  const { result } = JSON.parse(message) as { result: { tools: ListedTool[] } }
  return result.tools
}

interface ListedTool {
  readonly name: string
  readonly inputSchema: { readonly properties?: object }
}

function exportsOf({ folder, name, exports }: WorkspacePackage): readonly string[] {
  return exports
    .map((key) => ({ key, file: join(ROOT, folder, 'src', key === '.' ? 'index.ts' : `${key.slice(2)}.ts`) }))
    .filter(({ file }) => existsSync(file))
    .flatMap(({ key, file }) => [
      `${name}${key.slice(1)}`,
      ...wrapped(exportedNames(readFileSync(file, 'utf8')).toSorted()).map((line) => `  ${line}`),
    ])
}

interface CommandNode {
  name(): string
  readonly commands: readonly CommandNode[]
  readonly options: readonly { readonly flags: string }[]
}

function commandsOf(node: CommandNode, above: string): readonly string[] {
  const path = `${above} ${node.name()}`.trim()
  return [
    [path, ...node.options.map(({ flags }) => `[${flags}]`)].join(' '),
    ...node.commands.flatMap((each) => commandsOf(each, path)),
  ]
}

/** Words in lines of at most a hundred characters. */
function wrapped(words: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= 100) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

const text = (lines: readonly string[]): string => lines.join('\n')
