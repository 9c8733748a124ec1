import {
  type AgentAnswer,
  AgentprotoError,
  defined,
  type AgentRequest,
  type DelegationGrant,
  type PermissionMode,
  type Principal,
  type Session,
} from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'

/** Agents that start agents (docs/delegation.md): what a grant contains, and what a child gets from it. */

const DEFAULTS = { ttlSeconds: 3_600, maxDepth: 1, maxChildren: 5, modes: [], options: [] } as const

/** From the least permission to the most. */
const RANK: Readonly<Record<PermissionMode, number>> = { 'deny-all': 0, ask: 1, 'approve-reads': 2, 'approve-all': 3 }

/** What a person's spawn grants, with its defaults. @throws `delegation_denied` for more than the session itself may */
export function grantOf({
  adapter,
  delegation,
  permissionMode: own = 'ask',
}: SpawnAgentRequest): Pick<Session, 'delegation'> {
  if (delegation === undefined) return {}
  const { permissionMode = own } = delegation
  assertNoMore(permissionMode, own)
  return { delegation: { ...DEFAULTS, adapters: [adapter], ...defined(delegation), permissionMode } }
}

/** A child: the request within its bounds, and its place in the line of descent. */
export interface Child {
  readonly request: SpawnAgentRequest
  readonly lineage: Pick<Session, 'parentSessionId' | 'rootSessionId' | 'depth' | 'delegation'>
}

/**
 * Applies the grant to a request for a child. Nothing is created yet, and the quota is not checked.
 * @param now Milliseconds since the epoch
 * @throws `delegation_denied`, `max_depth_exceeded`
 */
export function childOf(request: SpawnAgentRequest, { session: parent, spawn }: StoredSession, now: number): Child {
  const grant = assertGranted(parent)
  if (grant.maxDepth < 1) throw tooDeep(parent)
  if (!grant.adapters.includes(request.adapter))
    throw denied('The grant does not name this agent', {
      expected: `one of ${grant.adapters.join(', ')}`,
      given: request.adapter,
      member: 'adapters',
    })
  if (request.delegation !== undefined)
    throw denied('A session grants nothing itself: its children have its grant, a step shorter')
  if (request.mcpServers !== undefined) throw denied('A session may not give its children MCP servers')
  const own = request.adapter === parent.adapterSlug ? spawn : {}
  const { permissionMode = least(grant.permissionMode, 'ask') } = request
  assertNoMore(permissionMode, grant.permissionMode)
  return {
    request: {
      ...request,
      ...settingsOf(request, own, grant),
      permissionMode,
      ttlSeconds: ttlOf(request, parent, { grant, now }),
    },
    lineage: {
      parentSessionId: parent.id,
      rootSessionId: parent.rootSessionId ?? parent.id,
      depth: (parent.depth ?? 0) + 1,
      delegation: {
        ...grant,
        permissionMode: least(grant.permissionMode, permissionMode),
        maxDepth: grant.maxDepth - 1,
      },
    },
  }
}

/** @throws `child_quota_exceeded` */
export function assertQuota({ delegation }: Session, liveChildren: number): void {
  const max = delegation?.maxChildren ?? 0
  if (liveChildren < max) return
  throw new AgentprotoError('child_quota_exceeded', `The session has ${liveChildren} children, the maximum`, {
    hint: 'Kill one that is no longer needed: kill_agent_session',
  })
}

/** What an agent may not do to any session, not even a descendant. @throws `delegation_denied` */
export function assertNoAgent(by: Principal, what: string): void {
  if (by.type === 'session') throw denied(`An agent may not ${what}`)
}

/** An agent may deny for a descendant and answer its questions; only a person may allow. @throws `delegation_denied` */
export function assertMayAnswer(by: Principal, request: AgentRequest | undefined, answer: AgentAnswer): void {
  if (by.type !== 'session' || request?.kind !== 'permission' || answer.outcome !== 'selected') return
  const option = request.options.find(({ optionId }) => optionId === answer.optionId)
  if (option?.kind.startsWith('allow') === true) throw denied('An agent may not allow what another one asks for')
}

/** @throws `delegation_denied` */
function assertGranted({ delegation }: Session): DelegationGrant {
  if (delegation !== undefined) return delegation
  throw denied('The session was not granted delegation')
}

function assertNoMore(given: PermissionMode, most: PermissionMode): void {
  if (RANK[given] <= RANK[most]) return
  throw denied('A child may not have more permission than its parent', {
    expected: `at most ${most}`,
    given,
    member: 'permissionMode',
  })
}

/** The stricter of two; a mode that is not known, from a file, is the strictest. */
export const least = (a: PermissionMode, b: PermissionMode): PermissionMode => (rankOf(a) <= rankOf(b) ? a : b)
const rankOf = (mode: string): number => (RANK as Readonly<Record<string, number>>)[mode] ?? -1

type Settings = Pick<StoredSession['spawn'], 'mode' | 'options'>

/** A child with the adapter of its parent has its settings: a parent that only plans has children that only plan. */
function settingsOf(
  request: SpawnAgentRequest,
  own: Settings,
  { modes, options: names }: DelegationGrant,
): Pick<SpawnAgentRequest, 'mode' | 'options'> {
  const { mode = own.mode } = request
  if (mode !== undefined && mode !== own.mode && !modes.includes(mode))
    throw denied('The grant does not name this mode', { given: mode, member: 'modes' })
  const asked = Object.entries(request.options ?? {})
  const beyond = asked.find(([name, value]) => own.options?.[name] !== value && !names.includes(name))
  if (beyond !== undefined) throw denied('The grant does not name this option', { given: beyond[0], member: 'options' })
  const all = { ...own.options, ...request.options }
  return defined({ mode, options: Object.keys(all).length === 0 ? undefined : all })
}

/** Never beyond the parent's own end. */
function ttlOf(
  { ttlSeconds }: SpawnAgentRequest,
  { expiresAt }: Session,
  { grant, now }: { readonly grant: DelegationGrant; readonly now: number },
): number {
  if (ttlSeconds !== undefined && ttlSeconds > grant.ttlSeconds)
    throw denied('The time to live of a child is too long', {
      expected: `at most ${grant.ttlSeconds} seconds`,
      given: ttlSeconds,
      member: 'ttlSeconds',
    })
  const left = expiresAt === undefined ? Infinity : Math.max(1, Math.floor((Date.parse(expiresAt) - now) / 1_000))
  return Math.min(ttlSeconds ?? grant.ttlSeconds, left)
}

const tooDeep = ({ id, depth = 0 }: Session): AgentprotoError =>
  new AgentprotoError('max_depth_exceeded', 'The session may not have children: the line of descent ends with it', {
    given: `${id}, at depth ${depth}`,
  })

interface Denial {
  readonly expected?: string
  readonly given?: unknown
  /** The member of the grant that would allow it. */
  readonly member?: string
}

const denied = (what: string, { member, ...parts }: Denial = {}): AgentprotoError =>
  new AgentprotoError('delegation_denied', what, {
    ...parts,
    ...(member && { hint: `The caller that starts the first session can grant it with delegation.${member}` }),
  })
