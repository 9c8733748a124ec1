import { join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import type { HomeDisk } from './home-disk.js'

/** The files of a home, as a step reads them. Only regular files in real folders of the home. */
export interface HomeFiles {
  /** The names in a folder of the home, sorted: `files` and `folders`. None if there is no such folder. */
  list(folder: string): { readonly files: readonly string[]; readonly folders: readonly string[] }
  /** The text of a file; undefined if there is none. */
  read(path: string): string | undefined
}

/** A file that a step reads is whole in memory. */
const MAX_FILE_BYTES = 256 * 1024 * 1024

/** @throws from each call: `home_upgrade_failed` for a path through a link, and for a file that is too large */
export function homeFiles(root: string, disk: HomeDisk): HomeFiles {
  return {
    list(folder) {
      if (!isFolder(root, folder, disk)) return { files: [], folders: [] }
      const entries = disk.list(join(root, folder))
      const named = (kind: string): readonly string[] =>
        entries.filter((entry) => entry.kind === kind).map(({ name }) => name)
      return { files: named('file'), folders: named('folder') }
    },
    read(path) {
      if (!isFolder(root, folderOf(path), disk)) return undefined
      const whole = join(root, path)
      const about = disk.look(whole)
      if (about === undefined) return undefined
      if (about.kind !== 'file') throw strange(whole, 'a file')
      if (about.bytes > MAX_FILE_BYTES) {
        const expected = `at most ${MAX_FILE_BYTES} bytes`
        throw new AgentprotoError('home_upgrade_failed', `${whole} is too large to upgrade`, {
          expected,
          given: about.bytes,
        })
      }
      return disk.read(whole)
    },
  }
}

/**
 * A path that a step may change: below the home, and none of the files that say how far the upgrade is.
 * @throws `home_upgrade_failed`
 */
export function assertOwnPath(path: string): string {
  const parts = path.split('/')
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\0\\:]/.test(part))
  if (isPlain && !RESERVED.has(parts[0] ?? '')) return path
  throw new AgentprotoError('home_upgrade_failed', 'An upgrade may not change this path', {
    expected: 'a path of a file below the home',
    given: path,
  })
}

const RESERVED = new Set(['home.json', 'backups', 'daemon.lock'])

/** Whether a folder of the home exists, without any link on the way. @throws `home_upgrade_failed` */
export function isFolder(root: string, folder: string, disk: HomeDisk): boolean {
  let path = root
  for (const part of folder.split('/').filter((each) => each !== '')) {
    path = join(path, part)
    const about = disk.look(path)
    if (about === undefined) return false
    if (about.kind !== 'folder') throw strange(path, 'a folder')
  }
  return true
}

export const folderOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0))

export const strange = (path: string, expected: string): AgentprotoError =>
  new AgentprotoError('home_upgrade_failed', `The home cannot be upgraded: ${path} is not what it should be`, {
    expected,
    given: 'a link, or something else',
    hint: 'Put the files themselves there; an upgrade does not follow links',
  })
