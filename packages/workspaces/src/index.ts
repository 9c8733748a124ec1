// The workspaces config (AIP-46). This file is the package's contract: every export is named here.
export { createWorkspaces } from './workspaces.js'
export type { WorkspacesOptions } from './workspaces.js'
export { createWorkspaceTrust } from './workspace-trust.js'
export type { TrustedFolder, WorkspaceTrust } from './workspace-trust.js'
