import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { ConfinementProfile, SandboxMount, SandboxRequest } from './sandbox-provider.js'

/** One path in the file system that an agent sees. */
export interface Place {
  /** Its path inside the sandbox. */
  readonly at: string
  /** How it can be used. A hidden path is empty. */
  readonly access: 'read-write' | 'read-only' | 'hidden'
  /** Its path on the host. Default: `at`. */
  readonly from?: string
}

export interface FilePolicy {
  /** In the order in which they are mounted over each other. */
  readonly places: readonly Place[]
  /** Whether only system folders and the places are visible. Otherwise the whole host is, read-only. */
  readonly closed: boolean
  /** Texts that appear as files. */
  readonly texts: readonly { readonly at: string; readonly text: string }[]
  /** What the profile requires and this cannot enforce. */
  readonly gaps: readonly string[]
  readonly warnings: readonly string[]
}

/** Whether the profile restricts files. If not, the host's files are visible as they are. */
export const confinesFiles = ({ mounts, fs }: Pick<ConfinementProfile, 'mounts' | 'fs'>): boolean =>
  mounts.length > 0 || fs !== undefined

/** Which parts of the file system a profile gives to its agent. Reads the file system, and changes nothing. */
export function filePolicy(profile: ConfinementProfile, request: SandboxRequest): FilePolicy {
  const { writable = [], readable = [], hidden = [] } = request
  const mounted = placeMounts(profile.mounts, request)
  const globs = placeGlobs(profile.fs, request)
  const requested: Place[] = [
    ...mounted.places,
    ...globs.places,
    ...writable.map((at) => ({ at, access: 'read-write' as const })),
  ]
  // The agent's program may be in its workspace, and is writable there.
  const needed = readable.filter((path) => !requested.some(({ at }) => path === at || path.startsWith(`${at}/`)))
  const places: Place[] = [
    ...hidden.map((at) => ({ at, access: 'hidden' as const })),
    ...needed.map((at) => ({ at, access: 'read-only' as const })),
    ...requested,
  ]
  return {
    places: [...inDepthOrder(places.filter(exists)), ...globs.denied.filter(exists)],
    closed: (profile.fs?.read.length ?? 0) > 0,
    texts: mounted.texts,
    gaps: globs.gaps,
    warnings: [
      ...mounted.warnings,
      ...places.filter(isMissing).map(({ from }) => `${from} does not exist and is not mounted`),
    ],
  }
}

/** A parent that is mounted later would cover its children. */
const inDepthOrder = (places: readonly Place[]): readonly Place[] =>
  [...places].sort((one, other) => depth(one.at) - depth(other.at))

const depth = (path: string): number => path.split('/').filter(Boolean).length

const exists = ({ at, from = at }: Place): boolean => existsSync(from)
const isMissing = (place: Place): boolean => place.from !== undefined && !exists(place)

interface PlacedMounts {
  readonly places: Place[]
  readonly texts: { readonly at: string; readonly text: string }[]
  readonly warnings: string[]
}

function placeMounts(mounts: readonly SandboxMount[], request: SandboxRequest): PlacedMounts {
  const placed: PlacedMounts = { places: [], texts: [], warnings: [] }
  for (const mount of mounts) placeMount(placed, mount, request)
  return placed
}

function placeMount(placed: PlacedMounts, { source, at, mode }: SandboxMount, request: SandboxRequest): void {
  if (source === 'workspace') {
    const { launch, directories = [] } = request
    // The agent gets the host's paths, so the workspace is visible there too.
    const roots = [launch.cwd, ...directories].map((root) => ({ at: root, access: mode }))
    const elsewhere = at === launch.cwd ? [] : [{ at, access: mode, from: launch.cwd }]
    placed.places.push(...roots, ...elsewhere)
  } else if ('file' in source) {
    placed.places.push({ at, access: mode, from: real(absolute(source.file, request, request.manifestDirectory)) })
  } else if ('inline' in source) {
    const { inline } = source
    placed.texts.push({ at, text: typeof inline === 'string' ? inline : JSON.stringify(inline) })
  } else {
    placed.warnings.push(`The mount at ${at} is ignored: only remote sandboxes support the reference ${source.ref}`)
  }
}

interface PlacedGlobs {
  readonly places: Place[]
  readonly denied: Place[]
  readonly gaps: string[]
}

function placeGlobs(fs: ConfinementProfile['fs'], request: SandboxRequest): PlacedGlobs {
  const { read = [], write = [], deny = [] } = fs ?? {}
  const gaps: string[] = []
  const place = (globs: readonly string[], access: Place['access']): Place[] =>
    globs.flatMap((glob) => {
      const at = treeOf(glob, request)
      if (at === undefined) gaps.push(`\`${glob}\` in fs is neither a path nor a path with /**`)
      return at === undefined ? [] : [{ at, access }]
    })
  const places = [...place(read, 'read-only'), ...place(write, 'read-write')]
  return { places, denied: place(deny, 'hidden'), gaps }
}

/** The file or folder that a glob names, if it names one as a whole. */
function treeOf(glob: string, request: SandboxRequest): string | undefined {
  const path = glob.replace(/\/?\*\*$/, '')
  if (/[*?[\]{}!]/.test(path)) return undefined
  return real(absolute(path, request, request.launch.cwd))
}

function absolute(path: string, { home }: SandboxRequest, base = '/'): string {
  if (home !== undefined && (path === '~' || path.startsWith('~/'))) return join(home, path.slice(1))
  return isAbsolute(path) ? path : resolve(base, path)
}

// A mount covers the target of a link, never the link.
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
