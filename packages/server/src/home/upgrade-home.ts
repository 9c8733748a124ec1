import { join } from 'node:path'
import {
  AgentprotoError,
  asList,
  asRecord,
  asString,
  defined,
  isAgentprotoError,
  parseJson,
} from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { HomeWriter } from '../version.js'
import { type HomeBackup, homeBackups, isBackupFolder, staleBackups } from './home-backups.js'
import { type HomeDisk, nodeDisk } from './home-disk.js'
import { assertOwnPath, folderOf, homeFiles, isFolder, strange } from './home-files.js'
import { assertHomeReadable, homeInvalid, type HomeRecord, homeRecordText, type HomeUpgrade } from './home-record.js'
import { type FileChange, HOME_STEPS, type HomeStep } from './home-steps.js'

export interface UpgradeOptions {
  readonly by: HomeWriter
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly steps?: readonly HomeStep[]
  readonly disk?: HomeDisk
  readonly limits?: UpgradeLimits
}

/** What one step may change. */
export interface UpgradeLimits {
  readonly files: number
  readonly bytes: number
  /** What must stay free on the disk, in bytes. */
  readonly reserve: number
}

const LIMITS: UpgradeLimits = { files: 200_000, bytes: 4 * 1024 ** 3, reserve: 32 * 1024 ** 2 }

/**
 * Brings a home up to date, step by step. Only for the one that holds the home's lock, before anything else reads the home.
 *
 * The new files of a step are written aside first, beside copies of the old ones. Then one write of `home.json` decides: from
 * there on the step is finished, by this process or by the next one; before, it is discarded. No crash leaves a home between two
 * formats for longer than until the next start.
 * @throws `home_newer`, `home_invalid`, `home_upgrade_failed`
 */
export function upgradeHome(root: string, { by, now, ...given }: UpgradeOptions): HomeRecord {
  const { steps = HOME_STEPS, disk = nodeDisk, limits = LIMITS } = given
  const home: Home = { root, by, disk, limits, at: new Date(now).toISOString() }
  try {
    let record = finishPending(home, assertHomeReadable(root, by, steps.length))
    discardUnfinished(home, record)
    for (const step of steps.slice(record?.format ?? 0)) record = takeStep(home, record, step)
    for (const { folder } of staleBackups(homeBackups(root, disk), now)) disk.removeFolder(join(root, folder))
    return record === undefined ? newRecord(home, 0) : withWriter(home, record)
  } catch (cause) {
    throw isAgentprotoError(cause) ? cause : failed(root, cause)
  }
}

interface Home {
  readonly root: string
  readonly by: HomeWriter
  readonly disk: HomeDisk
  readonly limits: UpgradeLimits
  /** ISO-8601. */
  readonly at: string
}

function takeStep(home: Home, before: HomeRecord | undefined, step: HomeStep): HomeRecord {
  const from = before?.format ?? 0
  const folder = `backups/${from}-${home.at.replace(/[-:.]/g, '')}`
  const isChanged = prepare(home, folder, step)
  const upgrade: HomeUpgrade = {
    from,
    to: from + 1,
    at: home.at,
    ...defined({ backup: isChanged ? folder : undefined }),
  }
  const next = { ...newRecord(home, from + 1), upgrades: [...(before?.upgrades ?? []), upgrade] }
  if (!isChanged) return writeRecord(home, next)
  const pending = writeRecord(home, { ...next, pending: folder })
  return finishPending(home, pending) ?? next
}

const newRecord = ({ by, at }: Home, format: number): HomeRecord => ({
  format,
  writtenBy: by,
  writtenAt: at,
  upgrades: [],
})

/**
 * Writes what a step changes into a new folder, and changes nothing else: `after` has the new files, `before` the old ones.
 * @returns whether the step changes anything
 */
function prepare(home: Home, folder: string, step: HomeStep): boolean {
  const { root, disk } = home
  const at = (name: string): string => join(root, folder, name)
  const changes: PreparedChange[] = []
  let bytes = 0
  isFolder(root, folder, disk)
  try {
    for (const change of step.changes(homeFiles(root, disk))) {
      if (changes.length === 0) disk.makeFolder(at('after'))
      const old = currentFile(home, change)
      bytes += assertRoom(home, { bytes, files: changes.length, change, old })
      if (old !== undefined) keepCopy(home, folder, change.path)
      if (change.content !== undefined) disk.create(at(`after/${changes.length}`), change.content)
      changes.push({ path: change.path, isDeleted: change.content === undefined })
    }
    if (changes.length === 0) return false
    disk.create(at('after/changes.json'), `${JSON.stringify(changes)}\n`)
    for (const name of ['after', '.', '..']) disk.syncFolder(at(name))
    return true
  } catch (error) {
    disk.removeFolder(join(root, folder))
    throw error
  }
}

/** The new content is `after/<index>`. */
interface PreparedChange {
  readonly path: string
  readonly isDeleted: boolean
}

/** The size of the file that is changed; undefined for a new one. */
function currentFile({ root, disk }: Home, { path }: FileChange): number | undefined {
  const whole = join(root, assertOwnPath(path))
  const about = isFolder(root, folderOf(path), disk) ? disk.look(whole) : undefined
  if (about !== undefined && about.kind !== 'file') throw strange(whole, 'a file')
  return about?.bytes
}

interface Room {
  readonly files: number
  readonly bytes: number
  readonly change: FileChange
  readonly old: number | undefined
}

/** @returns the bytes of the change @throws `home_upgrade_failed` when the home is too large, or the disk too full */
function assertRoom({ root, disk, limits }: Home, { files, bytes, change, old = 0 }: Room): number {
  const needed = old + Buffer.byteLength(change.content ?? '')
  if (files >= limits.files || bytes + needed > limits.bytes) {
    throw new AgentprotoError('home_upgrade_failed', `The home ${root} is too large to upgrade`, {
      expected: `at most ${limits.files} files and ${limits.bytes} bytes that change`,
      given: `${files + 1} files, ${bytes + needed} bytes`,
      hint: 'Remove old sessions with the agentproto that wrote the home: agentproto sessions prune --older-than 30d',
    })
  }
  const free = disk.freeBytes(root)
  if (free >= needed + limits.reserve) return needed
  throw new AgentprotoError('home_upgrade_failed', `The disk is too full to upgrade the home ${root}`, {
    expected: `${needed + limits.reserve} bytes free`,
    given: `${free} bytes free`,
    hint: 'Free disk space, then start it again. Nothing was changed',
  })
}

function keepCopy({ root, disk }: Home, folder: string, path: string): void {
  const to = join(root, folder, 'before', path)
  disk.makeFolder(join(to, '..'))
  disk.copy(join(root, path), to)
}

/** Finishes the step that `home.json` calls pending; every part of it can be done again. */
function finishPending(home: Home, record: HomeRecord | undefined): HomeRecord | undefined {
  if (record?.pending === undefined) return record
  const { root, disk } = home
  const { pending, ...next } = record
  if (!isBackupFolder(pending)) throw homeInvalid(root, { expected: '"pending", a folder of backups/', given: pending })
  for (const [index, { path, isDeleted }] of readPrepared(home, pending).entries()) {
    const [from, to] = [join(root, pending, `after/${index}`), join(root, path)]
    currentFile(home, { path, content: undefined })
    if (isDeleted && disk.look(to) !== undefined) disk.unlink(to)
    // Gone if it was done before a crash.
    if (isDeleted || disk.look(from) === undefined) continue
    disk.makeFolder(join(to, '..'))
    disk.rename(from, to)
    disk.syncFolder(join(to, '..'))
  }
  writeRecord(home, next)
  disk.removeFolder(join(root, pending, 'after'))
  return next
}

/** @throws `home_upgrade_failed` when what is needed to finish is gone */
function readPrepared({ root, disk }: Home, folder: string): readonly PreparedChange[] {
  const text = homeFiles(root, disk).read(`${folder}/after/changes.json`)
  const changes = asList(parseJson(text ?? '')).map((change) => {
    const { path, isDeleted } = asRecord(change)
    return { path: assertOwnPath(asString(path) ?? ''), isDeleted: isDeleted === true }
  })
  if (changes.length > 0) return changes
  throw new AgentprotoError(
    'home_upgrade_failed',
    `The upgrade of the home ${root} was interrupted and cannot be finished`,
    {
      expected: `${folder}/after/changes.json`,
      given: text === undefined ? 'no file' : 'another content',
      hint: `The files before the upgrade are in ${folder}/before`,
    },
  )
}

/** Removes what a step prepared before a crash, if `home.json` does not name it. */
function discardUnfinished({ root, disk }: Home, record: HomeRecord | undefined): void {
  const done = new Set(record?.upgrades.map(({ backup }) => backup))
  for (const { folder } of homeBackups(root, disk).filter((backup) => isUnfinished(root, backup, disk)))
    disk.removeFolder(join(root, folder, done.has(folder) ? 'after' : '.'))
}

const isUnfinished = (root: string, { folder }: HomeBackup, disk: HomeDisk): boolean =>
  disk.look(join(root, folder, 'after')) !== undefined || disk.list(join(root, folder)).length === 0

/** The record names the agentproto that serves the home now. */
function withWriter(home: Home, record: HomeRecord): HomeRecord {
  const { by, at } = home
  const { version, build } = record.writtenBy
  if (version === by.version && build === by.build) return record
  return writeRecord(home, { ...record, writtenBy: by, writtenAt: at })
}

/** Replaces `home.json` as a whole. Only the process that holds the home's lock writes it. */
function writeRecord({ root, disk }: Home, record: HomeRecord): HomeRecord {
  const path = homeLayout(root).format
  const aside = `${path}.tmp`
  if (disk.look(aside) !== undefined) disk.removeFolder(aside)
  disk.create(aside, homeRecordText(record))
  disk.rename(aside, path)
  disk.syncFolder(root)
  return record
}

const failed = (root: string, cause: unknown): AgentprotoError =>
  new AgentprotoError('home_upgrade_failed', `The home ${root} could not be upgraded`, {
    given: cause instanceof Error ? cause.message : cause,
    hint: 'Check the free space and the permissions of the home, then start it again: it continues where it stopped',
    cause,
  })
