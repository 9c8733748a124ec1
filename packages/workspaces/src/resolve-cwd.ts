import { NO_WORKSPACE, type ResolvedCwd } from '@agentproto/contracts'
import { isWithin, realFolder, realFolderIfAny } from './folder.js'
import { findWorkspace, type StoredWorkspace, type StoredWorkspaces } from './workspaces-file.js'

interface ResolveRequest {
  readonly cwd?: string
  readonly workspaceSlug?: string
}

/**
 * AIP-46's order: `cwd`, `workspaceSlug`, the active workspace, the host's default folder with a warning.
 * @throws `workspace_not_found`, `cwd_invalid`
 */
export async function resolveCwd(
  file: StoredWorkspaces,
  request: ResolveRequest,
  defaultCwd: string,
): Promise<ResolvedCwd> {
  const { cwd, workspaceSlug } = request
  if (cwd !== undefined) return resolveExplicit(file, cwd, workspaceSlug)
  if (workspaceSlug !== undefined) return resolveWorkspace(findWorkspace(file, workspaceSlug))
  const active = file.workspaces.find((workspace) => workspace.slug === file.active)
  if (active !== undefined) return resolveWorkspace(active)
  return resolveDefault(file, defaultCwd)
}

async function resolveExplicit(file: StoredWorkspaces, cwd: string, slug: string | undefined): Promise<ResolvedCwd> {
  const real = await realFolder(cwd, { what: 'The working directory', code: 'cwd_invalid' })
  const [workspace] = await enclosing(file, real)
  const workspaceSlug = workspace?.slug ?? NO_WORKSPACE
  const ignored = slug !== undefined && slug !== workspaceSlug
  const warnings = ignored
    ? [`The workspace ${slug} was not used: the given working directory ${real} takes precedence.`]
    : []
  return { cwd: real, workspaceSlug, warnings }
}

/** The registered workspaces that contain a real path, the innermost first. */
export async function enclosing(file: StoredWorkspaces, real: string): Promise<readonly StoredWorkspace[]> {
  const found: { readonly workspace: StoredWorkspace; readonly folder: string }[] = []
  for (const workspace of file.workspaces) {
    // By its path too: its rules must not end because its folder was replaced by a link, or cannot be read.
    const folders = [workspace.path, (await realFolderIfAny(workspace.path)) ?? workspace.path]
    const folder = folders.find((each) => isWithin(real, each))
    if (folder !== undefined) found.push({ workspace, folder })
  }
  return found.toSorted((a, b) => b.folder.length - a.folder.length).map(({ workspace }) => workspace)
}

/** The path as registered, not the real one: AIP-46 says that a session's cwd equals the workspace's path. */
async function resolveWorkspace({ slug, path }: StoredWorkspace): Promise<ResolvedCwd> {
  const hint = `Restore the folder, or run: agentproto workspace remove ${slug}`
  await realFolder(path, {
    what: `The folder of the workspace ${slug}`,
    code: 'cwd_invalid',
    hint,
    data: { workspaceSlug: slug },
  })
  return { cwd: path, workspaceSlug: slug, warnings: [] }
}

async function resolveDefault(file: StoredWorkspaces, defaultCwd: string): Promise<ResolvedCwd> {
  const cwd = await realFolder(defaultCwd, { what: 'The default folder of the host', code: 'cwd_invalid' })
  const why =
    file.active === undefined ? 'No workspace is active' : `The active workspace ${file.active} is not registered`
  return {
    cwd,
    workspaceSlug: NO_WORKSPACE,
    warnings: [`${why}, and no working directory was given: the agent runs in the default folder of the host, ${cwd}.`],
  }
}
