import { randomBytes } from 'node:crypto'
import { open, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises'
import type { ChangeStatus, KeptPath, KeptReason, RewindResult } from '@agentproto/contracts/agent'
import type { Git } from '../git/git.js'
import { codeOf } from '../git-errors.js'
import { someAtOnce } from '../some-at-once.js'
import { isWanted } from '../shadow/paths.js'
import type { ShadowRepository, Snapshot } from '../shadow/shadow-repository.js'
import { type EntryChange, listEntries, type TreeEntry } from '../shadow/tree-diff.js'
import { checkBlobs, readBlobs } from './blobs.js'
import { ContainedFolder, InTheWay, type Place } from './contained-folder.js'
import { isSameEntry, readExisting } from './file-content.js'
import { ignoredBefore } from './ignored-before.js'

export interface RewindPlan {
  readonly folder: string
  readonly now: Snapshot
  readonly target: Snapshot
  /** Only these; absent for all. */
  readonly paths: readonly string[] | undefined
  readonly dryRun: boolean
  /** A larger file is never recorded, and so never replaced. */
  readonly fileBytes: number
  readonly git: Git
  readonly shadow: ShadowRepository
  readonly signal: AbortSignal
}

const LISTED = 10_000
/** The names of unfinished files. */
const TEMPORARY = '.agentproto-rewind-'

/** Sets files to those of a recorded state. Everything that can fail as a whole is checked before the first change. */
export async function rewindFolder(plan: RewindPlan): Promise<RewindResult> {
  const { git, now, target, signal } = plan
  const all = await listEntries(git, { from: now.tree, to: target.tree, signal })
  const wanted = all.filter(({ path }) => isWanted(path, plan.paths))
  const run = new Rewind(plan)
  const changes = await run.withoutUnknown(wanted)
  await checkBlobs(git, { oids: changes.flatMap(({ to }) => (to === undefined ? [] : [to.oid])), signal })
  signal.throwIfAborted()
  if (plan.dryRun) for (const change of changes) run.report(change)
  else await run.apply(changes)
  return run.result()
}

class Rewind {
  readonly #plan: RewindPlan
  readonly #files: ContainedFolder
  readonly #changed: { readonly path: string; readonly status: ChangeStatus }[] = []
  readonly #kept: KeptPath[] = []

  constructor(plan: RewindPlan) {
    this.#plan = plan
    this.#files = new ContainedFolder(plan.folder)
  }

  /** Without the paths of which one of the two states does not say whether they existed. */
  async withoutUnknown(changes: readonly EntryChange[]): Promise<readonly EntryChange[]> {
    const { now, target } = this.#plan
    const ignored = await ignoredBefore(changes, this.#plan)
    return changes.filter(({ path, to }) => {
      const isDeleted = to === undefined
      if (now.leftOut.covers(path) || (isDeleted && target.leftOut.mayCover(path))) this.#keep(path, 'left_out')
      else if (isDeleted && ignored.has(path)) this.#keep(path, 'ignored')
      else return true
      return false
    })
  }

  /** From here on an abort is not respected: half a rewind is worse than a late one. */
  async apply(changes: readonly EntryChange[]): Promise<void> {
    const written = changes.filter(({ to }) => to !== undefined)
    const deleted = changes.filter(({ to }) => to === undefined)
    // First: a folder takes the place of a deleted file, and the other way round.
    await someAtOnce(deleted, (change) => this.#attempt(change, () => this.#delete(change)))
    await this.#removeEmptyFolders(changes, written)
    const oids = written.map(({ to }) => to?.oid ?? '')
    const blobs = readBlobs(this.#plan.git, { oids, signal: new AbortController().signal })
    // Called in the order of the files, so that each gets its own.
    await someAtOnce(written, async (change) => {
      const { value } = await blobs.next()
      const { to } = change
      if (value !== undefined && to !== undefined) await this.#attempt(change, () => this.#write(change, to, value))
    })
    await blobs.return(undefined)
  }

  report({ path, from, to }: EntryChange): void {
    this.#changed.push({ path, status: statusOf(from, to) })
  }

  result(): RewindResult {
    return {
      changed: this.#changed.toSorted(byPath).slice(0, LISTED),
      changedCount: this.#changed.length,
      kept: this.#kept.toSorted(byPath).slice(0, LISTED),
    }
  }

  async #attempt(change: EntryChange, run: () => Promise<KeptReason | undefined>): Promise<void> {
    const { path } = change
    try {
      const reason = await run()
      if (reason === undefined) this.report(change)
      else this.#keep(path, reason)
    } catch (thrown) {
      const isInTheWay = thrown instanceof InTheWay || BLOCKED.has(codeOf(thrown) ?? '')
      this.#keep(path, isInTheWay ? 'in_the_way' : 'failed', thrown instanceof Error ? thrown.message : String(thrown))
    }
  }

  async #delete(change: EntryChange): Promise<KeptReason | undefined> {
    return this.#files.inParent(change, async (place) => {
      const existing = await this.#unlessChanged(change, place)
      if (typeof existing === 'string') return existing
      await unlink(place.at)
      return undefined
    })
  }

  async #write(change: EntryChange, to: TreeEntry, content: Buffer): Promise<KeptReason | undefined> {
    return this.#files.inParent({ path: change.path, create: true }, async (place) => {
      const existing = await this.#unlessChanged(change, place)
      if (typeof existing === 'string') return existing
      const temporary = place.beside(TEMPORARY + randomBytes(8).toString('hex'))
      try {
        await writeEntry({ at: temporary, to, content, permissions: existing.permissions })
        // Again: writing took time.
        const late = await this.#unlessChanged(change, place)
        if (typeof late === 'string') return late
        if (late.isFolder) await rmdir(place.at)
        await rename(temporary, place.at)
        return undefined
      } finally {
        await rm(temporary, { force: true })
      }
    })
  }

  /** Whether a file is still what the state of now recorded. An empty folder counts as nothing. */
  async #unlessChanged({ from }: EntryChange, { at }: Place): Promise<KeptReason | Unchanged> {
    const existing = await readExisting(at, this.#plan.fileBytes)
    switch (existing.kind) {
      case 'absent':
        return from === undefined ? { isFolder: false } : 'changed_meanwhile'
      case 'folder':
        return from === undefined ? { isFolder: true } : 'changed_meanwhile'
      case 'file': {
        const { entry, permissions } = existing
        if (!isSameEntry(from, entry)) return 'changed_meanwhile'
        return { isFolder: false, ...(entry.mode === LINK ? {} : { permissions }) }
      }
      case 'other':
        return 'in_the_way'
    }
  }

  /** Those that lost their last file, and that no written file needs. */
  async #removeEmptyFolders(changes: readonly EntryChange[], written: readonly EntryChange[]): Promise<void> {
    const needed = foldersAbove(written)
    const emptied = foldersAbove(changes.filter(({ to }) => to === undefined))
    const deepestFirst = [...emptied].filter((folder) => !needed.has(folder)).toSorted((a, b) => b.length - a.length)
    for (const path of deepestFirst)
      // It has other files, or is gone.
      await this.#files.inParent({ path }, ({ at }) => rmdir(at)).catch(() => undefined)
  }

  #keep(path: string, reason: KeptReason, detail?: string): void {
    this.#kept.push({ path, reason, ...(detail === undefined ? {} : { detail }) })
  }
}

const byPath = (a: { readonly path: string }, b: { readonly path: string }): number => (a.path < b.path ? -1 : 1)

interface Unchanged {
  readonly isFolder: boolean
  /** Of the file that is replaced. */
  readonly permissions?: number
}

const LINK = '120000'

/** What a folder with other files, or a link, in the place of a file or parent gives. */
const BLOCKED: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ELOOP'])

interface NewEntry {
  readonly at: string | Buffer
  readonly to: TreeEntry
  readonly content: Buffer
  readonly permissions: number | undefined
}

async function writeEntry({ at, to, content, permissions }: NewEntry): Promise<void> {
  if (to.mode === LINK) return symlink(content, at)
  const isExecutable = to.mode === '100755'
  // Fails where anything is, also a link.
  const file = await open(at, 'wx', isExecutable ? 0o777 : 0o666)
  try {
    await file.writeFile(content)
    // A private file stays private: only what git records, that it can be executed, changes.
    if (permissions !== undefined) await file.chmod(withExecution(permissions, isExecutable))
  } finally {
    await file.close()
  }
}

/** Who can read a file can execute it, or no one. */
const withExecution = (permissions: number, isExecutable: boolean): number =>
  isExecutable ? permissions | ((permissions & 0o444) >> 2) | 0o100 : permissions & ~0o111

function statusOf(from: TreeEntry | undefined, to: TreeEntry | undefined): ChangeStatus {
  if (from === undefined) return 'added'
  if (to === undefined) return 'deleted'
  return (from.mode === LINK) === (to.mode === LINK) ? 'modified' : 'type_changed'
}

/** Each once: what is above a folder that is known is known too. */
function foldersAbove(changes: readonly EntryChange[]): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const { path } of changes)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}
