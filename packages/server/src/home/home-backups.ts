import { join } from 'node:path'
import { type HomeDisk, nodeDisk } from './home-disk.js'
import { isFolder } from './home-files.js'

/** The files of a home as they were before a step changed them. */
export interface HomeBackup {
  /** Below the home. */
  readonly folder: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

const KEPT = 5
const KEPT_MS = 90 * 24 * 60 * 60_000
/** The format, and the time as in ISO-8601 without punctuation. */
const NAME = /^\d{1,7}-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/

/** The backups of a home, the oldest first. What is named otherwise is not ours. */
export function homeBackups(root: string, disk: HomeDisk = nodeDisk): readonly HomeBackup[] {
  if (!isFolder(root, 'backups', disk)) return []
  return disk
    .list(join(root, 'backups'))
    .flatMap(({ name, kind }) =>
      kind === 'folder' && NAME.test(name) ? [{ folder: `backups/${name}`, at: timeOf(name) }] : [],
    )
    .sort((a, b) => a.at - b.at)
}

export const isBackupFolder = (folder: string): boolean =>
  folder.startsWith('backups/') && NAME.test(folder.slice('backups/'.length))

/** All but the last five, and those older than 90 days. */
export const staleBackups = (backups: readonly HomeBackup[], now: number): readonly HomeBackup[] =>
  backups.filter(({ at }, index) => index < backups.length - KEPT || now - at > KEPT_MS)

const timeOf = (name: string): number => Date.parse(name.replace(NAME, '$1-$2-$3T$4:$5:$6.$7Z'))
