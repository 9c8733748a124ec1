// The workspaces config (AIP-46). This file is the package's contract: every export is named here.
export { createWorkspaces, type WorkspacesOptions } from './workspaces.js'
export { createWorkspaceTrust, type TrustedFolder, type WorkspaceTrust } from './workspace-trust.js'
