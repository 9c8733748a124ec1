import { realpath } from 'node:fs/promises'
import { isAbsolute, resolve, sep } from 'node:path'
import {
  AgentprotoError,
  isAgentprotoError,
  type ResolvedCwd,
  type Session,
  type WorkspaceResolver,
} from '@agentproto/contracts'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'

type Parent = Pick<Session, 'cwd' | 'workspaceSlug' | 'additionalDirectories'>

/**
 * The root folder of a child: its parent's folder, or one within the parent's folders, symbolic links resolved (F97).
 * @throws `cwd_outside_parent`, `cwd_invalid`, `workspace_not_found`
 */
export async function childRootOf(
  workspaces: WorkspaceResolver,
  { cwd, workspaceSlug, additionalDirectories = [] }: SpawnAgentRequest,
  parent: Parent,
): Promise<ResolvedCwd> {
  const roots = await Promise.all([parent.cwd, ...(parent.additionalDirectories ?? [])].map(realOr))
  const place = cwd === undefined && workspaceSlug !== undefined ? { workspaceSlug } : { cwd: cwd ?? parent.cwd }
  const root = await resolveInside(workspaces, place, roots)
  for (const folder of additionalDirectories) await resolveInside(workspaces, { cwd: folder }, roots)
  return root
}

type Place = { readonly cwd: string } | { readonly workspaceSlug: string }

async function resolveInside(
  workspaces: WorkspaceResolver,
  place: Place,
  roots: readonly string[],
): Promise<ResolvedCwd> {
  const given = 'cwd' in place ? place.cwd : place.workspaceSlug
  const root = await workspaces.resolve(place).catch((thrown: unknown) => {
    // The caller must not learn whether a folder outside exists.
    if (isAgentprotoError(thrown) && 'cwd' in place && within(place.cwd, roots)) throw thrown
    throw outside(given, roots)
  })
  if (within(await realOr(root.cwd), roots)) return root
  throw outside(given, roots)
}

const realOr = (path: string): Promise<string> => realpath(path).catch(() => path)

function within(path: string, roots: readonly string[]): boolean {
  if (!isAbsolute(path) || path.includes('\0')) return false
  const plain = resolve(path)
  return roots.some((root) => plain === root || plain.startsWith(root.endsWith(sep) ? root : root + sep))
}

const outside = (given: string, roots: readonly string[]): AgentprotoError =>
  new AgentprotoError('cwd_outside_parent', 'A child runs inside the folders of its parent', {
    expected: `a folder within ${roots.join(', ')}`,
    given,
  })
