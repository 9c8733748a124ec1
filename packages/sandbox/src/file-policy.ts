import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { ConfinementProfile, SandboxMount, SandboxRequest } from './sandbox-provider.js'

/** One place in the file system that an agent sees. */
export interface Place {
  /** Where it is seen. */
  readonly at: string
  /** What is seen there; of a hidden place, nothing. */
  readonly access: 'read-write' | 'read-only' | 'hidden'
  /** What it is on the host. Default: `at`. */
  readonly from?: string
}

export interface FilePolicy {
  /** In the order in which they are laid over one another. */
  readonly places: readonly Place[]
  /** Whether only system folders and the places are seen; else the whole host is, read-only. */
  readonly closed: boolean
  /** Texts that are seen as files. */
  readonly texts: readonly { readonly at: string; readonly text: string }[]
  /** What the profile asks for and this cannot hold. */
  readonly gaps: readonly string[]
  readonly warnings: readonly string[]
}

/** Whether the profile says anything about files. Where it does not, they are as the host has them. */
export const confinesFiles = ({ mounts, fs }: Pick<ConfinementProfile, 'mounts' | 'fs'>): boolean =>
  mounts.length > 0 || fs !== undefined

/** What of the file system a profile leaves to its agent. Looks at what exists, and changes nothing. */
export function filePolicy(profile: ConfinementProfile, request: SandboxRequest): FilePolicy {
  const { writable = [], readable = [], hidden = [] } = request
  const drawn = drawMounts(profile.mounts, request)
  const globs = drawGlobs(profile.fs, request)
  const asked: Place[] = [
    ...drawn.places,
    ...globs.places,
    ...writable.map((at) => ({ at, access: 'read-write' as const })),
  ]
  // What the agent is run from may be in its workspace, and is writable there.
  const needed = readable.filter((path) => !asked.some(({ at }) => path === at || path.startsWith(`${at}/`)))
  const places: Place[] = [
    ...hidden.map((at) => ({ at, access: 'hidden' as const })),
    ...needed.map((at) => ({ at, access: 'read-only' as const })),
    ...asked,
  ]
  return {
    places: [...inDepthOrder(places.filter(exists)), ...globs.denied.filter(exists)],
    closed: (profile.fs?.read.length ?? 0) > 0,
    texts: drawn.texts,
    gaps: globs.gaps,
    warnings: [...drawn.warnings, ...places.filter(isMissing).map(({ from }) => `${from} is not there to be mounted`)],
  }
}

/** A parent that is laid later would cover its children. */
const inDepthOrder = (places: readonly Place[]): readonly Place[] =>
  [...places].sort((one, other) => depth(one.at) - depth(other.at))

const depth = (path: string): number => path.split('/').filter(Boolean).length

const exists = ({ at, from = at }: Place): boolean => existsSync(from)
const isMissing = (place: Place): boolean => place.from !== undefined && !exists(place)

interface DrawnMounts {
  readonly places: Place[]
  readonly texts: { readonly at: string; readonly text: string }[]
  readonly warnings: string[]
}

function drawMounts(mounts: readonly SandboxMount[], request: SandboxRequest): DrawnMounts {
  const drawn: DrawnMounts = { places: [], texts: [], warnings: [] }
  for (const mount of mounts) drawMount(drawn, mount, request)
  return drawn
}

function drawMount(drawn: DrawnMounts, { source, at, mode }: SandboxMount, request: SandboxRequest): void {
  if (source === 'workspace') {
    const { launch, directories = [] } = request
    // The agent is told the host's paths, so it sees the workspace there too.
    const roots = [launch.cwd, ...directories].map((root) => ({ at: root, access: mode }))
    const elsewhere = at === launch.cwd ? [] : [{ at, access: mode, from: launch.cwd }]
    drawn.places.push(...roots, ...elsewhere)
  } else if ('file' in source) {
    drawn.places.push({ at, access: mode, from: real(absolute(source.file, request, request.manifestDirectory)) })
  } else if ('inline' in source) {
    const { inline } = source
    drawn.texts.push({ at, text: typeof inline === 'string' ? inline : JSON.stringify(inline) })
  } else {
    drawn.warnings.push(`The mount at ${at} is left out: only remote sandboxes know the reference ${source.ref}`)
  }
}

interface DrawnGlobs {
  readonly places: Place[]
  readonly denied: Place[]
  readonly gaps: string[]
}

function drawGlobs(fs: ConfinementProfile['fs'], request: SandboxRequest): DrawnGlobs {
  const { read = [], write = [], deny = [] } = fs ?? {}
  const gaps: string[] = []
  const draw = (globs: readonly string[], access: Place['access']): Place[] =>
    globs.flatMap((glob) => {
      const at = treeOf(glob, request)
      if (at === undefined) gaps.push(`\`${glob}\` of fs is neither a path nor a path and /**`)
      return at === undefined ? [] : [{ at, access }]
    })
  const places = [...draw(read, 'read-only'), ...draw(write, 'read-write')]
  return { places, denied: draw(deny, 'hidden'), gaps }
}

/** The file or folder that a glob stands for, if it stands for one whole. */
function treeOf(glob: string, request: SandboxRequest): string | undefined {
  const path = glob.replace(/\/?\*\*$/, '')
  if (/[*?[\]{}!]/.test(path)) return undefined
  return real(absolute(path, request, request.launch.cwd))
}

function absolute(path: string, { home }: SandboxRequest, base = '/'): string {
  if (home !== undefined && (path === '~' || path.startsWith('~/'))) return join(home, path.slice(1))
  return isAbsolute(path) ? path : resolve(base, path)
}

// A mount is laid over what a link leads to, never over the link.
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
