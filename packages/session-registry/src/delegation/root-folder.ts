import { realpath } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import {
  AgentprotoError,
  defined,
  isAgentprotoError,
  type Principal,
  type ResolvedCwd,
  type Session,
  type TokenPrincipal,
  type WorkspaceResolver,
} from '@agentproto/contracts'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { isInside } from '../permissions/real-path.js'
import { NO_WORKSPACE } from '../permissions/workspace-rules.js'

/** Where a caller may run an agent (AIP-46 §Workspaces; DESIGN §5). */

type Asked = Pick<SpawnAgentRequest, 'cwd' | 'workspaceSlug' | 'additionalDirectories'>

/**
 * Resolves the root folder of a spawn. The owner may use any folder; a named token only workspaces, and only those
 * that it is bound to.
 * @throws `workspace_not_found`, `cwd_invalid`, `cwd_not_allowed`
 */
export async function workspaceRootOf(
  workspaces: WorkspaceResolver,
  asked: Asked,
  by: Principal,
): Promise<ResolvedCwd> {
  if (by.type !== 'token') return workspaces.resolve(placeOf(asked))
  const root = await resolveFor(by, workspaces, placeOf(asked))
  for (const cwd of asked.additionalDirectories ?? []) await resolveFor(by, workspaces, { cwd })
  return root
}

/**
 * The root folder of a child: its parent's folder, or one within the parent's folders, symbolic links resolved (F97).
 * @throws `cwd_outside_parent`, `cwd_invalid`, `workspace_not_found`
 */
export async function childRootOf(
  workspaces: WorkspaceResolver,
  { cwd, workspaceSlug, additionalDirectories = [] }: Asked,
  parent: Pick<Session, 'cwd' | 'workspaceSlug' | 'additionalDirectories'>,
): Promise<ResolvedCwd> {
  const roots = await Promise.all([parent.cwd, ...(parent.additionalDirectories ?? [])].map(realOr))
  const place = cwd === undefined && workspaceSlug !== undefined ? { workspaceSlug } : { cwd: cwd ?? parent.cwd }
  const root = await resolveInside(workspaces, place, roots)
  for (const folder of additionalDirectories) await resolveInside(workspaces, { cwd: folder }, roots)
  return root
}

interface Place {
  readonly cwd?: string
  readonly workspaceSlug?: string
}

const placeOf = ({ cwd, workspaceSlug }: Asked): Place => defined({ cwd, workspaceSlug })

async function resolveFor(by: TokenPrincipal, workspaces: WorkspaceResolver, place: Place): Promise<ResolvedCwd> {
  const asked = { ...only(by, place), ...place }
  if (asked.workspaceSlug !== undefined && !covers(by, asked.workspaceSlug)) throw noWorkspace(asked.workspaceSlug)
  const resolved = await workspaces.resolve(asked).catch((thrown: unknown) => {
    // The caller must not learn whether a folder outside exists.
    if (place.cwd !== undefined && isAgentprotoError(thrown) && thrown.code === 'cwd_invalid') throw outside(by, place)
    throw thrown
  })
  if (!covers(by, resolved.workspaceSlug)) throw outside(by, place)
  return resolved
}

/** A token that is bound to one workspace means that one. */
function only({ workspaces }: TokenPrincipal, { cwd, workspaceSlug }: Place): Place {
  const [slug, second] = workspaces ?? []
  if (cwd !== undefined || workspaceSlug !== undefined || slug === undefined || second !== undefined) return {}
  return { workspaceSlug: slug }
}

/** No token covers the slug of folders outside of workspaces. */
const covers = ({ workspaces }: TokenPrincipal, slug: string): boolean =>
  slug !== NO_WORKSPACE && (workspaces === undefined || workspaces.includes(slug))

async function resolveInside(
  workspaces: WorkspaceResolver,
  place: Place,
  roots: readonly string[],
): Promise<ResolvedCwd> {
  const root = await workspaces.resolve(place).catch((thrown: unknown) => {
    // The caller must not learn whether a folder outside exists.
    if (isAgentprotoError(thrown) && place.cwd !== undefined && isAmong(place.cwd, roots)) throw thrown
    throw outsideParent(place, roots)
  })
  if (isAmong(await realOr(root.cwd), roots)) return root
  throw outsideParent(place, roots)
}

const realOr = (path: string): Promise<string> => realpath(path).catch(() => path)

const isAmong = (path: string, roots: readonly string[]): boolean =>
  isAbsolute(path) && !path.includes('\0') && isInside(resolve(path), roots)

/** The same error as for an unknown slug: what a caller may not see does not exist for it. */
const noWorkspace = (given: string): AgentprotoError =>
  new AgentprotoError('workspace_not_found', 'There is no such workspace', {
    given,
    hint: 'List those that you see with GET /workspaces',
  })

const outside = ({ workspaces }: TokenPrincipal, { cwd }: Place): AgentprotoError =>
  new AgentprotoError('cwd_not_allowed', 'The token does not allow agents to run in this folder', {
    expected:
      workspaces === undefined ? 'a folder of a workspace' : `a folder of the workspace ${workspaces.join(', ')}`,
    given: cwd ?? 'no folder and no workspace',
    hint: 'Name a workspace with workspaceSlug',
  })

const outsideParent = ({ cwd, workspaceSlug }: Place, roots: readonly string[]): AgentprotoError =>
  new AgentprotoError('cwd_outside_parent', 'A child runs inside the folders of its parent', {
    expected: `a folder within ${roots.join(', ')}`,
    given: cwd ?? workspaceSlug,
  })
