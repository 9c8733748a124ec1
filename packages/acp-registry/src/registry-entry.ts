/** Platforms of binaries, by the registry's names: `<os>-<arch>`. */
export const REGISTRY_PLATFORMS = [
  'darwin-aarch64',
  'darwin-x86_64',
  'linux-aarch64',
  'linux-x86_64',
  'windows-aarch64',
  'windows-x86_64',
] as const
export type RegistryPlatform = (typeof REGISTRY_PLATFORMS)[number]

/** How a program is started, as the registry has it. */
export interface RegistryLaunch {
  /** Absent: the program that npx or uvx would start. May have arguments after a blank. */
  readonly cmd?: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface RegistryPackage extends RegistryLaunch {
  /** Name and version in the form of the package manager: `@scope/name@1.2.3`, `name==1.2.3`. */
  readonly package: string
}

export interface RegistryBinary extends RegistryLaunch {
  /** Address of an archive, or of the program itself. */
  readonly archive: string
  /** Path in the archive. */
  readonly cmd: string
  /** Of the archive, 64 lower-case hexadecimal digits. Most entries have none. */
  readonly sha256?: string
}

export interface RegistryDistribution {
  readonly npx?: RegistryPackage
  readonly uvx?: RegistryPackage
  readonly binary?: Readonly<Partial<Record<RegistryPlatform, RegistryBinary>>>
}

/** One agent of the registry. Its texts are of one line, without control characters. */
export interface RegistryEntry {
  /** `^[a-z][a-z0-9-]*$`, 2 to 64 characters: it can be the slug of an adapter. */
  readonly id: string
  /** For people. */
  readonly name: string
  /** Of the entry. That of the package may differ, and neither need be a semantic version. */
  readonly version: string
  readonly description: string
  readonly authors: readonly string[]
  /** An SPDX expression, `proprietary`, or any other text. */
  readonly license?: string
  /** Addresses with https. */
  readonly repository?: string
  readonly website?: string
  readonly icon?: string
  readonly distribution: RegistryDistribution
  /** Of the whole entry, with sorted keys: changes when anything in it does. Lower-case hexadecimal. */
  readonly sha256: string
}

/** What is wrong with an entry. */
export interface RegistryProblem {
  /** Place in the document, from 0. */
  readonly index: number
  /** As far as it could be read. */
  readonly id?: string
  /** Whether the entry is left out, or kept without a part of it. */
  readonly entry: 'left-out' | 'kept'
  readonly message: string
}

/** A registry document, checked. */
export interface Registry {
  /** Of the document's format: `1.0.0`. */
  readonly version: string
  /** In the order of the document, each id once. */
  readonly agents: readonly RegistryEntry[]
  /** At most 100; the last one then says how many there are. */
  readonly problems: readonly RegistryProblem[]
}
