import { AgentprotoError, defined, type Principal, type Session, type TraceContext } from '@agentproto/contracts'
import type {
  AdapterCatalog,
  AdapterSessionPolicy,
  AdapterSummary,
  StartAgentOptions,
  StoredSpawn,
} from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { foldersOf, type Roots } from '../delegation/root-folder.js'
import { standingContextOf } from '../session/envelope.js'
import type { SessionState } from '../session/state.js'
import { repositoryAccess } from '../worktrees/worktree-access.js'
import { assertContinuation } from './resume.js'

/** What a spawn request says about the session that it creates. */

export interface Creation {
  readonly id: string
  /** ISO-8601. */
  readonly now: string
  readonly hostId: string
}

/** The descriptor of a session at its start, without what the host resolves: adapter and root folder. */
export function newSession(
  request: SpawnAgentRequest,
  by: Principal,
  { id, now, hostId }: Creation,
): Omit<Session, 'adapterSlug' | 'workspaceSlug' | 'cwd' | 'warnings'> {
  const { label, title, permissionMode = 'ask', additionalDirectories, instructions, ttlSeconds, onHostLoss } = request
  return {
    id,
    status: 'starting',
    startedAt: now,
    state: 'starting',
    attachable: false,
    wakeable: false,
    ...defined({ label, title, additionalDirectories }),
    hostId,
    type: by.type === 'session' ? 'spawned' : 'user',
    turnCount: 0,
    turn: { number: 0, state: 'idle' },
    lastActiveAt: now,
    connection: 'disconnected',
    resumable: false,
    ...(onHostLoss === 'move' ? { onHostLoss } : {}),
    ...(instructions === undefined ? {} : { instructed: 'pending' as const }),
    permissionMode,
    pendingRequests: 0,
    lastSeq: 0,
    ...(ttlSeconds === undefined ? {} : { expiresAt: new Date(Date.parse(now) + ttlSeconds * 1_000).toISOString() }),
  }
}

/** What a resume needs to know of the start. */
export function spawnOf(
  request: SpawnAgentRequest,
  policy: AdapterSessionPolicy,
  { folders: roots }: Roots,
): StoredSpawn {
  const { mode, options, additionalDirectories, mcpServers, instructions, continuation, title, loops } = request
  const { envelope = policy.envelope, requestTimeoutMs } = request
  return {
    policy,
    roots,
    ...(envelope === true ? { envelope } : {}),
    ...defined({
      mode,
      options,
      additionalDirectories,
      mcpServers,
      instructions,
      continuation,
      title,
      requestTimeoutMs,
    }),
    ...(loops && { loops: defined(loops) }),
    ...(request.budget && { budget: defined(request.budget) }),
  }
}

/** The agent of a new session has no envelope yet. */
export const envelopeOf = ({ envelope }: StoredSpawn): Pick<Session, 'envelope'> =>
  envelope === true ? { envelope: 'pending' } : {}

/** The options of a start or a restart of the agent. */
export function startOptionsOf(
  state: Pick<SessionState, 'session' | 'spawn' | 'config'>,
  { trace, ...run }: Pick<StartAgentOptions, 'origin' | 'signal'> & { readonly trace?: TraceContext | undefined },
): StartAgentOptions {
  const { session, spawn } = state
  const { id, adapterSlug, workspaceSlug, delegation, onHostLoss } = session
  const { mode, options, mcpServers = [] } = spawn
  const instructions = standingContextOf(state)
    .map(({ text }) => text)
    .join('\n\n')
  const [cwd, ...additionalDirectories] = foldersOf({ session, spawn })
  return {
    sessionId: id,
    adapterSlug,
    workspaceSlug,
    cwd,
    additionalDirectories,
    ...repositoryAccess(spawn.worktree),
    mcpServers,
    ...defined({ mode, options, instructions: instructions || undefined, trace }),
    // A session that may have no children has the tools too: they return the reason.
    ...(delegation === undefined ? {} : { delegates: true }),
    // Two hosts never run one session: an agent that outlives its host would run beside that of the next one.
    ...(onHostLoss === 'move' ? { endsWithHost: 'another host continues its session when this one is lost' } : {}),
    env: { AGENTPROTO_SESSION_ID: id },
    ...run,
  }
}

/**
 * The adapter that a request names. AIP-46: 501 where no adapter is installed at all, naming the install command.
 * @throws `adapter_not_found`, `no_adapter_installed`, `continuation_unsupported`
 */
export async function adapterFor(
  catalog: AdapterCatalog,
  { adapter: slug, continuation }: Pick<SpawnAgentRequest, 'adapter' | 'continuation'>,
): Promise<AdapterSummary> {
  const adapter = await catalog.get(slug).catch(async (unknown: unknown) => {
    if ((await catalog.list()).length > 0) throw unknown
    throw noAdapterInstalled()
  })
  // The driver refuses an adapter that is not installed, with the command to run; here only a host without any counts.
  if (!adapter.installed && !(await catalog.list()).some(({ installed }) => installed)) throw noAdapterInstalled(slug)
  assertContinuation(adapter.session, continuation)
  return adapter
}

const noAdapterInstalled = (slug = 'opencode'): AgentprotoError =>
  new AgentprotoError('no_adapter_installed', 'No adapter is installed on this host', {
    hint: `Install one, for example with \`agentproto adapters install ${slug}\``,
  })
