// The registry of ACP agents: read, checked, and turned into manifests. This file is the package's contract: every export is named here.
export { parseRegistry, REGISTRY_BYTES_MAX } from './parse-registry.js'
export { openRegistry } from './open-registry.js'
export type { ReadOptions, RegistryOptions, RegistryReader, RegistrySnapshot } from './open-registry.js'
export { readRegistryFile } from './read-registry-file.js'
export { openIcons, type Icons, type IconsOptions } from './icons/open-icons.js'
export { PUBLIC_REGISTRY } from './registry-address.js'
export { REGISTRY_PLATFORMS } from './registry-entry.js'
export type {
  Registry,
  RegistryBinary,
  RegistryDistribution,
  RegistryEntry,
  RegistryLaunch,
  RegistryPackage,
  RegistryPlatform,
  RegistryProblem,
} from './registry-entry.js'
export { distributionFor } from './distribution-for.js'
export { DOWNLOAD_FORMATS } from './distribution.js'
export type {
  BinaryDistribution,
  Distribution,
  DistributionChoice,
  DownloadFormat,
  InstallPlatform,
  InstallTools,
  NpmDistribution,
  ProgramLaunch,
  PythonDistribution,
  RefusedWay,
} from './distribution.js'
export { isAsWritten } from './written-files.js'
export { variablesOf, type EntryVariables } from './entry-variables.js'
export { manifestOf, type AdapterFiles, type EntrySource, type ManifestOptions } from './manifest-of.js'
