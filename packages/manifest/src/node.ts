// Reads manifests from the file system. This file is the subpath's contract: every export is named here.
export { readAgentCli, type LoadedAgentCli, type ReadAgentCliOptions, type ReadResult } from './read-agent-cli.js'
export { checkManifestFiles, checkManifestText, type CheckedFile, type GivenText } from './check-files.js'
export { readSchema, schemaPath } from './schema-files.js'
export { findVersion, type FoundVersion } from './find-version.js'
export { findManifests } from './find-manifests.js'
