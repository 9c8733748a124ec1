import type { RegistryWay } from '@agentproto/contracts/agent'
import type { RegistryPlatform } from './registry-entry.js'

/** How the program is started, after it was installed. */
export interface ProgramLaunch {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A package of the npm registry. */
export interface NpmDistribution extends ProgramLaunch {
  readonly way: 'npx'
  /** Without a version: `@scope/name`. */
  readonly name: string
  /** The exact version that the entry pins. */
  readonly version?: string
  /** What the entry says instead of an exact version: a range, a tag. */
  readonly wanted?: string
  /** Absent: the one that npx would start, which only the package itself says. */
  readonly program?: string
}

/** A package of PyPI. */
export interface PythonDistribution extends ProgramLaunch {
  readonly way: 'uvx'
  /** Without a version, with its extras: `name[extra]`. */
  readonly name: string
  readonly version?: string
  /** What the entry says instead of an exact version, such as `>=1.2`. */
  readonly wanted?: string
  readonly program: string
}

/** The forms of a download, by its name. What it is, only its first bytes say. */
export const DOWNLOAD_FORMATS = ['zip', 'tar.gz', 'tar.bz2', 'tar.xz', 'raw'] as const
export type DownloadFormat = (typeof DOWNLOAD_FORMATS)[number]

/** A file to download. */
export interface BinaryDistribution extends ProgramLaunch {
  readonly way: 'binary'
  readonly platform: RegistryPlatform
  readonly url: string
  readonly format: DownloadFormat
  /** Lower-case hexadecimal. */
  readonly sha256?: string
  /** Path in the archive, without `./` and `..`; of a raw file the name that it gets. */
  readonly program: string
}

export type Distribution = NpmDistribution | PythonDistribution | BinaryDistribution

/** Node's names of the platform that the agent is installed on. */
export interface InstallPlatform {
  readonly os: NodeJS.Platform
  readonly arch: NodeJS.Architecture
}

/** Which of the programs that install packages are there. */
export interface InstallTools {
  readonly npm: boolean
  readonly uv: boolean
  readonly python: boolean
}

/** A way of the entry that is not used here. */
export interface RefusedWay {
  readonly way: RegistryWay
  /** A sentence. */
  readonly reason: string
}

export type DistributionChoice =
  | { readonly ok: true; readonly distribution: Distribution; readonly refused: readonly RefusedWay[] }
  | { readonly ok: false; readonly refused: readonly RefusedWay[] }
