import { defined } from '@agentproto/contracts'
import type { BinaryDistribution, DownloadFormat, InstallPlatform } from './distribution.js'
import { splitLaunch } from './program-launch.js'
import type { RegistryDistribution, RegistryPlatform } from './registry-entry.js'
import { isSafeAddress } from './registry-address.js'

/** The file of an entry for a platform, or why it cannot be used. */
export function binaryDistribution(
  targets: NonNullable<RegistryDistribution['binary']>,
  here: InstallPlatform,
): BinaryDistribution | string {
  const platform = platformOf(here)
  const target = platform && targets[platform]
  if (platform === undefined || target === undefined)
    return `There is no file for ${here.os} on ${here.arch}, only for ${Object.keys(targets).join(', ')}.`
  const url = new URL(target.archive)
  if (!isSafeAddress(url)) return `${target.archive} is not an https address.`
  const format = formatOf(url)
  if (format === undefined)
    return `${nameIn(url)} is of a form that is not supported: what can be unpacked is ${SUPPORTED}.`
  const { program = '', args, env } = splitLaunch(target)
  const path = pathBelow(program)
  if (path === undefined) return `${target.cmd} is not a path inside of the download.`
  const { sha256 } = target
  return { way: 'binary', platform, url: url.href, format, ...defined({ sha256 }), program: path, args, env }
}

const SUPPORTED = 'zip, tar.gz, tar.bz2, tar.xz and programs that are not packed; no dmg, msi or system package'

const OS_NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'darwin',
  linux: 'linux',
  win32: 'windows',
}
const ARCH_NAMES: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { arm64: 'aarch64', x64: 'x86_64' }
const PLATFORMS: Readonly<Record<string, RegistryPlatform>> = {
  'darwin-aarch64': 'darwin-aarch64',
  'darwin-x86_64': 'darwin-x86_64',
  'linux-aarch64': 'linux-aarch64',
  'linux-x86_64': 'linux-x86_64',
  'windows-aarch64': 'windows-aarch64',
  'windows-x86_64': 'windows-x86_64',
}

/** The registry's name of a platform. */
const platformOf = ({ os, arch }: InstallPlatform): RegistryPlatform | undefined =>
  PLATFORMS[`${OS_NAMES[os] ?? ''}-${ARCH_NAMES[arch] ?? ''}`]

/** Ends of names; undefined is a form that is refused. */
const FORMATS: readonly (readonly [RegExp, DownloadFormat | undefined])[] = [
  [/\.zip$/, 'zip'],
  [/\.(?:tar\.gz|tgz)$/, 'tar.gz'],
  [/\.(?:tar\.bz2|tbz2|tbz)$/, 'tar.bz2'],
  [/\.(?:tar\.xz|txz)$/, 'tar.xz'],
  [/\.(?:dmg|pkg|msi|msix|deb|rpm|apk|appimage|snap|flatpak|7z|rar|zst|lz4|iso|jar|whl)$/, undefined],
]

function formatOf(url: URL): DownloadFormat | undefined {
  const name = nameIn(url).toLowerCase()
  const found = FORMATS.find(([end]) => end.test(name))
  return found === undefined ? 'raw' : found[1]
}

function nameIn({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

/** A relative path that stays below its folder, without `./`; undefined for any other. */
function pathBelow(path: string): string | undefined {
  const steps = path.replaceAll('\\', '/').split('/')
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || steps.includes('..')) return undefined
  const kept = steps.filter((step) => step !== '' && step !== '.')
  return kept.length === 0 || kept.some((step) => step.startsWith('-')) ? undefined : kept.join('/')
}
