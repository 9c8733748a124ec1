// Reads manifests from the file system. This file is the subpath's contract: every export is named here.
export { readAgentCli } from './read-agent-cli.js'
export type { LoadedAgentCli, ReadAgentCliOptions, ReadResult } from './read-agent-cli.js'
export { checkManifestFiles } from './check-files.js'
export type { CheckedFile } from './check-files.js'
export { findVersion } from './find-version.js'
export type { FoundVersion } from './find-version.js'
export { findManifests } from './find-manifests.js'
