import {
  AgentprotoError,
  type Clock,
  type ResolvedCwd,
  systemClock,
  type Workspace,
  type WorkspaceService,
  type WorkspacesFile,
} from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { type Changed, JsonFile } from '@agentproto/json-file'
import { realFolder, realFolderIfAny } from './folder.js'
import { enclosing, resolveCwd } from './resolve-cwd.js'
import { checkSlug, slugFor } from './slug.js'
import { findWorkspace, type StoredWorkspace, type StoredWorkspaces, workspacesSchema } from './workspaces-file.js'

export interface WorkspacesOptions {
  /** Root of the home, as for `homeLayout`; `workspaces.json` is in it. */
  readonly home: string
  /** Absolute folder that a spawn uses, with a warning, where nothing else is given. */
  readonly defaultCwd: string
  readonly clock?: Clock
  /** Called for what people should know, such as an unreadable file that was moved aside. */
  readonly onWarning?: (message: string) => void
}

type AddRequest = Parameters<WorkspaceService['add']>[0]

/**
 * The workspaces of a home (AIP-46): named folders in `workspaces.json`. Every call reads the file, so
 * several processes see each other's changes; every change is made under a lock and replaces the file.
 */
export function createWorkspaces({
  home,
  defaultCwd,
  clock = systemClock,
  onWarning,
}: WorkspacesOptions): WorkspaceService {
  const file = new JsonFile({
    path: homeLayout(home).workspaces,
    what: 'workspaces file',
    schema: workspacesSchema,
    empty: { version: 1, workspaces: [] },
    clock,
    onWarning,
  })

  const read = async (): Promise<StoredWorkspaces> => {
    const { content, problem } = await file.read()
    // A change that changes nothing still moves an unreadable file aside.
    return problem === undefined ? content : file.change((current) => [current, current])
  }

  return {
    list: async () => toWorkspacesFile(await read()),
    add: async (request) => {
      const real = await realFolder(request.path, { what: 'The path of the workspace', code: 'path_invalid' })
      const slug = request.slug === undefined ? undefined : checkSlug(request.slug)
      const now = new Date(clock.now()).toISOString()
      return file.change((before) => addWorkspace(before, { ...request, real, slug, now }))
    },
    remove: (slug) => file.change((before) => [withoutWorkspace(before, slug), undefined]),
    use: (slug) => file.change((before) => useWorkspace(before, slug, new Date(clock.now()).toISOString())),
    resolve: async (request): Promise<ResolvedCwd> => resolveCwd(await read(), request, defaultCwd),
    enclosing: async (folder) => enclosing(await read(), folder),
  }
}

interface Addition extends Omit<AddRequest, 'slug'> {
  readonly real: string
  readonly slug: string | undefined
  readonly now: string
}

const WORKSPACES_MAX = 1_000

async function addWorkspace(
  file: StoredWorkspaces,
  { real, slug, label, use, now }: Addition,
): Promise<Changed<StoredWorkspaces, Workspace>> {
  if (file.workspaces.length >= WORKSPACES_MAX) {
    throw new AgentprotoError('workspace_invalid', 'There are too many workspaces.', {
      expected: `at most ${WORKSPACES_MAX}`,
      hint: 'Remove one first: agentproto workspace remove <slug>',
    })
  }
  const taken = new Set(file.workspaces.map((workspace) => workspace.slug))
  if (slug !== undefined && taken.has(slug)) {
    throw new AgentprotoError('workspace_exists', `There is already a workspace ${slug}.`, {
      expected: `a slug other than ${[...taken].join(', ')}`,
      given: slug,
      hint: 'Give another slug, or remove that workspace first.',
    })
  }
  await refuseSameFolder(file, real)
  const added: StoredWorkspace = {
    slug: slug ?? slugFor(real, taken),
    path: real,
    addedAt: now,
    updatedAt: now,
    ...(label === undefined ? {} : { label }),
  }
  // The first workspace is the active one unless the caller says otherwise.
  const active = (use ?? file.active === undefined) ? { active: added.slug } : {}
  return [{ ...file, ...active, workspaces: [...file.workspaces, added] }, toWorkspace(added)]
}

async function refuseSameFolder(file: StoredWorkspaces, real: string): Promise<void> {
  for (const workspace of file.workspaces) {
    // A folder that no longer exists is not a duplicate.
    const other = await realFolderIfAny(workspace.path)
    if (other !== real) continue
    throw new AgentprotoError('workspace_exists', `The folder is already the workspace ${workspace.slug}.`, {
      expected: 'a folder that is not a workspace yet',
      given: real,
      hint: `Run: agentproto workspace use ${workspace.slug}`,
      data: { slug: workspace.slug },
    })
  }
}

function withoutWorkspace(file: StoredWorkspaces, slug: string): StoredWorkspaces {
  findWorkspace(file, slug)
  const { active, ...rest } = file
  const workspaces = file.workspaces.filter((workspace) => workspace.slug !== slug)
  return { ...rest, ...(active === undefined || active === slug ? {} : { active }), workspaces }
}

function useWorkspace(file: StoredWorkspaces, slug: string, now: string): Changed<StoredWorkspaces, Workspace> {
  const used = { ...findWorkspace(file, slug), updatedAt: now }
  const workspaces = file.workspaces.map((workspace) => (workspace.slug === slug ? used : workspace))
  return [{ ...file, active: slug, workspaces }, toWorkspace(used)]
}

const toWorkspacesFile = ({ active, workspaces }: StoredWorkspaces): WorkspacesFile => ({
  version: 1,
  ...(active === undefined ? {} : { active }),
  workspaces: workspaces.map(toWorkspace),
})

const toWorkspace = ({ slug, path, addedAt, updatedAt, label }: StoredWorkspace): Workspace => ({
  slug,
  path,
  addedAt,
  updatedAt,
  ...(label === undefined ? {} : { label }),
})
