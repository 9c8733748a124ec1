import { existsSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { closedPaths, isBelow, type Place, real } from './place.js'
import type { ConfinementProfile, SandboxMount, SandboxRequest } from './sandbox-provider.js'

export interface FilePolicy {
  /** In the order in which they are mounted over each other. */
  readonly places: readonly Place[]
  /** The host's files around the places: as they are, read-only, or only the system folders, read-only. */
  readonly host: 'unchanged' | 'read-only' | 'system'
  /** Texts that appear as files. */
  readonly texts: readonly { readonly at: string; readonly text: string }[]
  /** What the profile requires and this cannot enforce. */
  readonly gaps: readonly string[]
  readonly warnings: readonly string[]
}

/** Whether the profile restricts files. If not, the host's files are visible as they are. */
export const confinesFiles = ({ mounts, fs }: Pick<ConfinementProfile, 'mounts' | 'fs'>): boolean =>
  mounts.length > 0 || fs !== undefined

/**
 * Which parts of the file system a profile gives to its agent. Reads the file system, and changes nothing.
 * @param programs what is started inside, as its manifest names it: that opens nothing
 */
export function filePolicy(
  profile: ConfinementProfile,
  request: SandboxRequest,
  programs: readonly string[] = [],
): FilePolicy {
  const { launch, directories = [], writable = [], readable = [], hidden = [], manifestDirectory = '/' } = request
  const roots = [launch.cwd, ...directories]
  const host = !confinesFiles(profile) ? 'unchanged' : (profile.fs?.read.length ?? 0) > 0 ? 'system' : 'read-only'
  const mounted = placeMounts(profile.mounts, request)
  const globs = placeGlobs(profile.fs, request)
  const kept = host === 'unchanged' ? [...roots, ...writable] : writable
  const files = [...mounted.places, ...globs.places, ...kept.map((at): Place => ({ at, access: 'read-write' }))]
  const requested = [...files, ...repositoryPlaces(request, files)]
  // The agent's program may be in its workspace, and is writable there.
  const needed = [...readable, ...programs].filter((path) => !requested.some(({ at }) => isBelow(path, at)))
  const places = [...needed.map((at): Place => ({ at, access: 'read-only' })), ...requested]
  const denied = globs.denied.map(({ at }) => at)
  const closed = closedPaths(
    [...hidden, ...denied],
    [...roots, ...worktreeOf(request), ...writable, ...readable, manifestDirectory],
  )
  const covers = closed.within({ at: '/', access: 'read-only' })
  // Where the host's files are unchanged, only what would be covered is mounted again.
  const isShown = ({ at }: Place): boolean => host !== 'unchanged' || covers.some((cover) => isBelow(at, cover.at))
  const open = places.filter((place) => exists(place) && isShown(place) && !closed.includes(place))
  return {
    places: inDepthOrder([...open, ...covers, ...open.flatMap((place) => closed.within(place))]),
    host,
    texts: mounted.texts,
    gaps: globs.gaps,
    warnings: [
      ...mounted.warnings,
      ...places
        .filter((place) => (exists(place) ? closed.includes(place) : place.from !== undefined))
        .map(({ at, from = at }) => `${from} does not exist or is closed to agents, and is not mounted`),
    ],
  }
}

const worktreeOf = ({ repository }: SandboxRequest): readonly string[] =>
  repository === undefined ? [] : [repository.worktree]

/** A worktree, and what of it lies in its repository: written where the working directory is. */
function repositoryPlaces({ launch, repository }: SandboxRequest, files: readonly Place[]): readonly Place[] {
  if (repository === undefined) return []
  const isWritten = files.some(({ at, access }) => access === 'read-write' && isBelow(launch.cwd, at))
  const { worktree, readable, writable } = repository
  return [
    ...readable.map((at): Place => ({ at, access: 'read-only' })),
    ...[worktree, ...writable].map((at): Place => ({ at, access: isWritten ? 'read-write' : 'read-only' })),
  ]
}

/** A parent that is mounted later would cover its children. */
const inDepthOrder = (places: readonly Place[]): readonly Place[] =>
  [...places].sort((one, other) => depth(one.at) - depth(other.at))

const depth = (path: string): number => path.split('/').filter(Boolean).length

const exists = ({ at, from = at }: Place): boolean => existsSync(from)

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

function placeMount(placed: PlacedMounts, { source, mode, ...mount }: SandboxMount, request: SandboxRequest): void {
  const at = resolve(mount.at)
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
  const path = glob.replace(/(?<=.)\/\*\*$|\*\*$/, '')
  if (path === '/' || /[*?[\]{}!]/.test(path)) return undefined
  return real(absolute(path, request, request.launch.cwd))
}

function absolute(path: string, { home }: SandboxRequest, base = '/'): string {
  if (home !== undefined && (path === '~' || path.startsWith('~/'))) return join(home, path.slice(1))
  return isAbsolute(path) ? path : resolve(base, path)
}
