import { AgentprotoError, homeLayout, systemClock } from '@agentproto/contracts'
import type { Clock, ResolvedCwd, Workspace, WorkspaceService, WorkspacesFile } from '@agentproto/contracts'
import { findWorkspace } from './find-workspace.js'
import { realFolder, realFolderIfAny } from './folder.js'
import { resolveCwd } from './resolve-cwd.js'
import { checkSlug, slugFor } from './slug.js'
import { emptyFile, moveAside, readWorkspacesFile, withLock, writeWorkspacesFile } from './workspaces-file.js'
import type { StoredWorkspace, StoredWorkspaces } from './workspaces-file.js'

export interface WorkspacesOptions {
  /** Root of the home, as for `homeLayout`; `workspaces.json` is in it. */
  readonly home: string
  /** Absolute folder that a spawn falls back to, with a warning. */
  readonly defaultCwd: string
  readonly clock?: Clock
  /** Told once of each thing that people should know, such as an unreadable file that was moved aside. */
  readonly onWarning?: (message: string) => void
}

type AddRequest = Parameters<WorkspaceService['add']>[0]

/**
 * The workspaces of a home (AIP-46): named folders in `workspaces.json`. Every call reads the file, so that
 * several processes see each other's changes; every change is made under a lock and replaces the file.
 */
export function createWorkspaces({
  home,
  defaultCwd,
  clock = systemClock,
  onWarning = ignore,
}: WorkspacesOptions): WorkspaceService {
  const path = homeLayout(home).workspaces
  // Changes of one process wait for each other here rather than on the lock, which retries by time.
  let last: Promise<unknown> = Promise.resolve()

  const read = async (): Promise<StoredWorkspaces> => {
    const file = await readWorkspacesFile(path)
    if (file.state !== 'unreadable') return file.state === 'read' ? file.content : emptyFile()
    return change((current) => [current, current])
  }

  const readLocked = async (): Promise<StoredWorkspaces> => {
    // Read again: another process may have moved the file aside and written a good one since.
    const file = await readWorkspacesFile(path)
    if (file.state === 'read') return file.content
    if (file.state === 'unreadable') {
      const aside = await moveAside(path, clock.now())
      onWarning(
        `The workspaces file could not be read (${file.reason}); it was moved to ${aside}, and the list begins anew.`,
      )
    }
    return emptyFile()
  }

  /** Reads, changes and writes as one; nothing is written when the content stays the same object. */
  const change = <T>(run: Change<T>): Promise<T> => {
    const turn = last.then(() =>
      withLock(path, async (isHeld) => {
        const before = await readLocked()
        const [after, result] = await run(before)
        if (after !== before) {
          if (!isHeld())
            throw new AgentprotoError('storage_failed', 'The lock on the workspaces file was lost.', {
              hint: 'Try again.',
            })
          await writeWorkspacesFile(path, after)
        }
        return result
      }),
    )
    last = turn.catch(ignore)
    return turn
  }

  return {
    list: async () => toWorkspacesFile(await read()),
    add: async (request) => {
      const real = await realFolder(request.path, { what: 'The path of the workspace', code: 'path_invalid' })
      const slug = request.slug === undefined ? undefined : checkSlug(request.slug)
      return change((file) => addWorkspace(file, { ...request, real, slug, now: new Date(clock.now()).toISOString() }))
    },
    remove: (slug) => change((file) => [withoutWorkspace(file, slug), undefined]),
    use: (slug) => change((file) => useWorkspace(file, slug, new Date(clock.now()).toISOString())),
    resolve: async (request): Promise<ResolvedCwd> => resolveCwd(await read(), request, defaultCwd),
  }
}

/** The content after the change, and what the caller gets. */
type Change<T> = (file: StoredWorkspaces) => Changed<T> | Promise<Changed<T>>
type Changed<T> = readonly [StoredWorkspaces, T]

const ignore = (): void => {}

interface Addition extends Omit<AddRequest, 'slug'> {
  readonly real: string
  readonly slug: string | undefined
  readonly now: string
}

const WORKSPACES_MAX = 1_000

async function addWorkspace(
  file: StoredWorkspaces,
  { real, slug, label, use, now }: Addition,
): Promise<Changed<Workspace>> {
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
    // A folder that is gone is no duplicate of one that is there.
    const other = await realFolderIfAny(workspace.path)
    if (other !== real) continue
    throw new AgentprotoError('workspace_exists', `The folder is already the workspace ${workspace.slug}.`, {
      expected: 'a folder that is no workspace yet',
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

function useWorkspace(file: StoredWorkspaces, slug: string, now: string): Changed<Workspace> {
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
