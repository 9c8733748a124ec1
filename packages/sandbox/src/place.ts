import { existsSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'

/** One path in the file system that an agent sees. */
export interface Place {
  /** Its path inside the sandbox. */
  readonly at: string
  /** How it can be used. A hidden path is empty. */
  readonly access: 'read-write' | 'read-only' | 'hidden'
  /** Its path on the host. Default: `at`. */
  readonly from?: string
}

/** Kernel settings. Where else the host has mounted some, the probe finds them. */
const KERNEL = ['/proc', '/sys']

/**
 * The paths of the host that no profile opens, at whatever path they would appear.
 * @param hidden what the host and the profile hide
 * @param own folders of the session that may be in a hidden one, and are not hidden with it
 */
export function closedPaths(hidden: readonly string[], own: readonly string[]) {
  const closed = hidden.map(real).filter((path) => existsSync(path))
  const open = own.map(real).filter((folder) => closed.some((path) => folder !== path && isBelow(folder, path)))
  const isIn = (place: Place, folders: readonly string[]): boolean =>
    folders.some((folder) => isBelow(real(place.from ?? place.at), folder))
  return {
    /** Whether a place would show one. */
    includes: (place: Place): boolean => isIn(place, KERNEL) || (isIn(place, closed) && !isIn(place, open)),
    /** What covers those within a place. */
    within: ({ at, from = at }: Place): readonly Place[] =>
      [...KERNEL, ...closed]
        .filter((path) => isBelow(path, real(from)))
        .map((path) => ({ at: join(at, relative(real(from), path)), from: path, access: 'hidden' as const }))
        // The sandbox has its own /proc, and its /sys is mounted read-only.
        .filter((cover) => !KERNEL.includes(cover.at)),
  }
}

/** Whether a path is a folder or in it. */
export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)

/** A mount covers the target of a link, never the link. */
export function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
