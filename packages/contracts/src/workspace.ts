import type { Principal } from './principal.js'
import type { AddWorkspaceRequest } from './wire/host-requests.js'
import type { Workspace, WorkspacesFile } from './wire/host-responses.js'

/** The slug that a session reports which runs in no workspace (AIP-46). No workspace may have it. */
export const NO_WORKSPACE = 'default'

/** The folder of a session. */
export interface ResolvedCwd {
  /** Absolute and existing. */
  readonly cwd: string
  /** {@link NO_WORKSPACE} without a workspace. */
  readonly workspaceSlug: string
  readonly warnings: readonly string[]
}

/** Resolution order of AIP-46: `cwd`, `workspaceSlug`, the active workspace, the folder of the host with a warning. */
export interface WorkspaceResolver {
  /** @throws `workspace_not_found`, `cwd_invalid` */
  resolve(request: { readonly cwd?: string; readonly workspaceSlug?: string }): Promise<ResolvedCwd>
  /** The workspaces that contain a folder, by its real path; the innermost first. */
  enclosing(folder: string): Promise<readonly Pick<Workspace, 'slug' | 'path'>[]>
}

export interface WorkspaceService extends WorkspaceResolver {
  list(): Promise<WorkspacesFile>
  /**
   * @param by The caller, for the audit log
   * @throws `workspace_invalid`, `workspace_exists`, `path_invalid`
   */
  add(request: AddWorkspaceRequest, by?: Principal): Promise<Workspace>
  /** @throws `workspace_not_found` */
  remove(slug: string, by?: Principal): Promise<void>
  /** @throws `workspace_not_found` */
  use(slug: string, by?: Principal): Promise<Workspace>
}
