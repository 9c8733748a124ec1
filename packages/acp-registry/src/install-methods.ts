import { defined } from '@agentproto/contracts'
import type { BinaryDistribution, Distribution, NpmDistribution, PythonDistribution } from './distribution.js'
import type { RegistryPlatform } from './registry-entry.js'

/** What of a manifest depends on how the agent is installed. */
export interface InstallParts {
  /** The executable: a name of letters, digits, dots, dashes and underscores. */
  readonly bin: string
  /** Methods of AIP-29, in the order in which they are tried. */
  readonly install: readonly Readonly<Record<string, unknown>>[]
  readonly requires?: { readonly os: readonly string[]; readonly arch: readonly string[] }
  /** Keys of `metadata.agentproto`. */
  readonly hints: Readonly<Record<string, unknown>>
}

/** What is known beyond the entry. */
export interface InstallFacts {
  readonly program?: string
  readonly version?: string
  readonly sha256?: string
  readonly allowScripts?: boolean
}

/** How an entry is installed, in the terms of a manifest. */
export function installParts(distribution: Distribution, facts: InstallFacts): InstallParts {
  switch (distribution.way) {
    case 'npx':
      return npmParts(distribution, facts)
    case 'uvx':
      return pythonParts(distribution, facts)
    case 'binary':
      return binaryParts(distribution, facts)
    default:
      return distribution satisfies never
  }
}

function npmParts({ name, wanted, ...own }: NpmDistribution, facts: InstallFacts): InstallParts {
  const { program = own.program ?? bareName(name), version = own.version ?? wanted } = facts
  return {
    bin: program,
    install: [{ method: 'npm', package: version === undefined ? name : `${name}@${version}` }],
    hints: { install_scripts: facts.allowScripts === true ? 'run' : 'skip' },
  }
}

const bareName = (name: string): string => name.slice(name.indexOf('/') + 1)

/** uv is no method of AIP-29: a host that does not know it passes to pip. */
function pythonParts({ name, wanted = '', program, ...own }: PythonDistribution, facts: InstallFacts): InstallParts {
  const { version = own.version } = facts
  const named = version === undefined ? `${name}${wanted}` : `${name}==${version}`
  return {
    bin: program,
    install: [
      { method: 'uv', package: named, experimental: true },
      { method: 'pip', package: named },
    ],
    hints: {},
  }
}

function binaryParts(
  { url, program, format, platform, ...own }: BinaryDistribution,
  facts: InstallFacts,
): InstallParts {
  const { sha256 = own.sha256 } = facts
  const download = { method: 'download', url, extract_bin: program, ...defined({ verify_sha256: sha256 }) }
  return {
    bin: programName(program),
    install: [download],
    requires: PLATFORM_NAMES[platform],
    // Only a program that was not packed has no files beside it.
    hints: format === 'raw' ? {} : { unpack: 'all', launch: `unpacked/${program}` },
  }
}

/** The last part of a path, in the characters that a `bin` may have. */
const programName = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9._-]/g, '-')

/** Platforms as AIP-29 names them. */
const PLATFORM_NAMES: Readonly<Record<RegistryPlatform, NonNullable<InstallParts['requires']>>> = {
  'darwin-aarch64': { os: ['darwin'], arch: ['arm64'] },
  'darwin-x86_64': { os: ['darwin'], arch: ['x64'] },
  'linux-aarch64': { os: ['linux'], arch: ['arm64'] },
  'linux-x86_64': { os: ['linux'], arch: ['x64'] },
  'windows-aarch64': { os: ['windows'], arch: ['arm64'] },
  'windows-x86_64': { os: ['windows'], arch: ['x64'] },
}
