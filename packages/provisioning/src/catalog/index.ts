// The adapters of a host: which there are, and what can be done to their agents. This file is the subpath's contract.
export { hostAdapters, type LiveSessions } from './host-adapters.js'
export { ManifestCatalog } from './manifest-catalog.js'
export type { CatalogFolder, LoadedAdapter, ManifestCatalogOptions } from './manifest-catalog.js'
export { removeLeft } from '../remove-left.js'
export { openCatalog } from './open-catalog.js'
export type { CatalogOptions } from './open-catalog.js'
