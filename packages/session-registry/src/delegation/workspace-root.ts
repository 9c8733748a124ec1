import {
  AgentprotoError,
  isAgentprotoError,
  type Principal,
  type ResolvedCwd,
  type SpawnAgentRequest,
  type TokenPrincipal,
  type WorkspaceResolver,
} from '@agentproto/contracts'

/** Where a caller may let an agent run (AIP-46 §Workspaces; DESIGN §5). */

type Asked = Pick<SpawnAgentRequest, 'cwd' | 'workspaceSlug' | 'additionalDirectories'>

/**
 * Resolves the ground of a spawn. The owner may use any folder; whoever bears a named token only workspaces, and of
 * those the ones that it is bound to.
 * @throws `workspace_not_found`, `cwd_invalid`, `cwd_not_allowed`
 */
export async function groundOf(workspaces: WorkspaceResolver, asked: Asked, by: Principal): Promise<ResolvedCwd> {
  if (by.type !== 'token') return workspaces.resolve(placeOf(asked))
  const ground = await resolveFor(by, workspaces, placeOf(asked))
  for (const cwd of asked.additionalDirectories ?? []) await resolveFor(by, workspaces, { cwd })
  return ground
}

interface Place {
  readonly cwd?: string
  readonly workspaceSlug?: string
}

const placeOf = ({ cwd, workspaceSlug }: Asked): Place => ({
  ...(cwd === undefined ? {} : { cwd }),
  ...(workspaceSlug === undefined ? {} : { workspaceSlug }),
})

async function resolveFor(by: TokenPrincipal, workspaces: WorkspaceResolver, place: Place): Promise<ResolvedCwd> {
  const asked = { ...only(by, place), ...place }
  if (asked.workspaceSlug !== undefined && !covers(by, asked.workspaceSlug)) throw noWorkspace(asked.workspaceSlug)
  const resolved = await workspaces.resolve(asked).catch((thrown: unknown) => {
    // Whether a folder outside is there is none of the caller's business.
    if (place.cwd !== undefined && isAgentprotoError(thrown) && thrown.code === 'cwd_invalid') throw outside(by, place)
    throw thrown
  })
  if (!covers(by, resolved.workspaceSlug)) throw outside(by, place)
  return resolved
}

/** Who is bound to one workspace means that one. */
function only({ workspaces }: TokenPrincipal, { cwd, workspaceSlug }: Place): Place {
  const [slug, second] = workspaces ?? []
  if (cwd !== undefined || workspaceSlug !== undefined || slug === undefined || second !== undefined) return {}
  return { workspaceSlug: slug }
}

/** The slug that is given to folders of no workspace is covered by no token. */
const covers = ({ workspaces }: TokenPrincipal, slug: string): boolean =>
  slug !== NO_WORKSPACE && (workspaces === undefined || workspaces.includes(slug))

/** AIP-46: the slug of what runs in no workspace. */
const NO_WORKSPACE = 'default'

/** As for a slug that nobody has: what a caller may not see is not there. */
const noWorkspace = (given: string): AgentprotoError =>
  new AgentprotoError('workspace_not_found', 'There is no such workspace', {
    given,
    hint: 'List those that you see with GET /workspaces',
  })

const outside = ({ workspaces }: TokenPrincipal, { cwd }: Place): AgentprotoError =>
  new AgentprotoError('cwd_not_allowed', 'The token does not let agents run there', {
    expected:
      workspaces === undefined ? 'a folder of a workspace' : `a folder of the workspace ${workspaces.join(', ')}`,
    given: cwd ?? 'no folder and no workspace',
    hint: 'Name a workspace with workspaceSlug',
  })
