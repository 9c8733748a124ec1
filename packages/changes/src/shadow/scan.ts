import { constants, type Stats } from 'node:fs'
import { access, lstat, open } from 'node:fs/promises'
import type { LeftOut, LeftOutReason } from '@agentproto/contracts/agent'
import type { ChangeLimits } from '../limits.js'
import type { Git } from '../git/git.js'
import { fsPath, notPathspec, pathspec } from '../git/path-text.js'
import { recordBatches } from '../git/records.js'
import { codeOf, Skipped } from '../git-errors.js'
import { filterInSlices, inSlices } from '../slice.js'
import { someAtOnce } from '../some-at-once.js'
import { folderPattern, type FolderRoot } from './folder-root.js'
import { FolderWeights } from './folder-weights.js'

/** What the index must take over from the folder. Paths are relative to the work tree. */
export interface Scan {
  readonly present: readonly string[]
  readonly absent: readonly string[]
  readonly leftOut: readonly LeftOut[]
  /** Of those that are present. */
  readonly bytes: number
}

export interface ScanRequest {
  readonly git: Git
  readonly env: Readonly<Record<string, string>>
  readonly index: string
  readonly root: FolderRoot
  readonly limits: ChangeLimits
  /** Folders that were left out before; more are added. With `/` at their end. */
  readonly largeFolders: Set<string>
  /** Folders that git must not look into; with `/` at their ends. */
  readonly blocked: ReadonlySet<string>
  readonly signal: AbortSignal
}

/** How many folders are left out before the whole is too large. */
const FOLDERS_MAX = 20

/** Compares the folder with the index, without reading a file that did not change. */
export async function scanFolder(request: ScanRequest): Promise<Scan> {
  const [tracked, unknown, blocked] = await Promise.all([
    trackedChanges(request),
    unknownFiles(request),
    blockedFiles(request),
  ])
  const found = new Candidates(request, tracked.absent)
  await inSlices(blocked, (path) => tracked.absent.push(path))
  for (const path of request.blocked) found.leaveOut(path, 'special_file')
  for (const path of unknown.nested) found.leaveOut(path, 'nested_repository')
  await found.takeAll(tracked.present)
  await found.takeAll(unknown.files)
  return found.scan()
}

interface Tracked {
  readonly present: readonly string[]
  readonly absent: string[]
}

async function trackedChanges({ git, env, root, blocked, signal }: ScanRequest): Promise<Tracked> {
  const present: string[] = []
  const absent: string[] = []
  const args = [
    'diff-files',
    '-z',
    '--name-status',
    '--no-renames',
    '--ignore-submodules=all',
    ...within(root, blocked),
  ]
  let status: string | undefined
  for await (const batch of recordBatches(git.stream({ args, env, signal })))
    for (const record of batch) {
      if (status === undefined) status = record
      else {
        // git found a parent that is a link or missing: asking for the path itself would follow that link.
        ;(status === 'D' ? absent : present).push(record)
        status = undefined
      }
    }
  return { present, absent }
}

/** What the index has of the folders that git must not look into: writing the index, it would look at new files again. */
async function blockedFiles({ git, env, blocked, signal }: ScanRequest): Promise<readonly string[]> {
  if (blocked.size === 0) return []
  const files: string[] = []
  const args = ['ls-files', '-z', '--', ...[...blocked].map(pathspec)]
  for await (const batch of recordBatches(git.stream({ args, env, signal })))
    await inSlices(batch, (path) => files.push(path))
  return files
}

interface Unknown {
  readonly files: readonly string[]
  readonly nested: readonly string[]
}

/** Lists again without the largest folders until the rest is within the limit. */
async function unknownFiles(request: ScanRequest): Promise<Unknown> {
  const room = Math.max(0, request.limits.files - (await indexEntries(request.index)))
  for (;;) {
    const { listing, weights } = await listUnknown(request, room)
    if (weights.total <= room) return listing
    await leaveOutHeaviest(weights, { most: room, ...request })
  }
}

async function listUnknown(request: ScanRequest, room: number) {
  const { git, env, root, largeFolders, blocked, signal } = request
  const never = [...root.never, ...[...largeFolders, ...blocked].map((folder) => folderPattern(folder.slice(0, -1)))]
  const patterns = never.map((pattern) => `--exclude=${pattern}`)
  const args = ['ls-files', '-z', '--others', '--exclude-standard', ...patterns, ...within(root, blocked)]
  const files: string[] = []
  const nested: string[] = []
  const weights = new FolderWeights()
  for await (const batch of recordBatches(git.stream({ args, env, signal })))
    for (const path of batch) {
      if (path.endsWith('/')) {
        nested.push(path)
        continue
      }
      weights.add(path, 1)
      // More are only counted.
      if (files.length < room) files.push(path)
    }
  return { listing: { files, nested }, weights }
}

interface Leaving {
  readonly most: number
  readonly root: FolderRoot
  readonly largeFolders: Set<string>
}

/** Adds to `largeFolders` until the rest weighs little enough. @returns what the rest weighs @throws {@link Skipped} */
async function leaveOutHeaviest(weights: FolderWeights, { most, root, largeFolders }: Leaving): Promise<number> {
  const tree = await weights.tree()
  while (tree.total > most) {
    const heaviest = await tree.heaviest(root.prefix)
    if (heaviest === undefined || largeFolders.size >= FOLDERS_MAX)
      throw new Skipped('too_large', `The folder has too many files or bytes: ${tree.total}, at most ${most}.`)
    largeFolders.add(heaviest)
    tree.remove(heaviest)
  }
  return tree.total
}

/** The number of files of an index, from its header; 0 where there is none. */
async function indexEntries(index: string): Promise<number> {
  const file = await open(index).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  })
  if (file === undefined) return 0
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0)
    return bytesRead === 12 ? buffer.readUInt32BE(8) : 0
  } finally {
    await file.close()
  }
}

/** Looks at each path and decides whether it is recorded. */
class Candidates {
  readonly #request: ScanRequest
  readonly #absent: string[]
  readonly #leftOut: LeftOut[] = []
  readonly #bytes = new FolderWeights()
  #present: string[] = []

  constructor(request: ScanRequest, absent: string[]) {
    this.#request = request
    this.#absent = absent
  }

  takeAll(paths: readonly string[]): Promise<void> {
    return someAtOnce(paths, (path) => this.#take(path))
  }

  leaveOut(path: string, reason: LeftOutReason): void {
    this.#leftOut.push({ path: path.slice(this.#request.root.prefix.length), reason })
  }

  async scan(): Promise<Scan> {
    const { limits, largeFolders } = this.#request
    const bytes = this.#bytes.total > limits.bytes ? await this.#dropHeaviest() : this.#bytes.total
    for (const folder of largeFolders) this.leaveOut(folder, 'folder_too_large')
    const leftOut = this.#leftOut.toSorted((a, b) => (a.path < b.path ? -1 : 1))
    return { present: this.#present, absent: this.#absent, leftOut, bytes }
  }

  async #take(path: string): Promise<void> {
    const { root, limits, signal } = this.#request
    signal.throwIfAborted()
    const at = fsPath(`${root.workTree}/${path}`)
    const stats = await lstat(at).catch(() => undefined)
    if (stats === undefined) return void this.#absent.push(path)
    const reason = await reasonAgainst({ path, at, stats, limits })
    if (reason !== undefined) {
      this.#absent.push(path)
      // A folder took its place meanwhile: its files are found the next time.
      if (!stats.isDirectory()) this.leaveOut(path, reason)
      return
    }
    this.#bytes.add(path, stats.size)
    this.#present.push(path)
  }

  /** @returns the bytes of the rest */
  async #dropHeaviest(): Promise<number> {
    const { limits, root, largeFolders } = this.#request
    const bytes = await leaveOutHeaviest(this.#bytes, { most: limits.bytes, root, largeFolders })
    const folders = [...largeFolders]
    this.#present = await filterInSlices(this.#present, (path) => !folders.some((folder) => path.startsWith(folder)))
    return bytes
  }
}

interface Candidate {
  readonly path: string
  readonly at: string | Buffer
  readonly stats: Stats
  readonly limits: ChangeLimits
}

async function reasonAgainst({ path, at, stats, limits }: Candidate): Promise<LeftOutReason | undefined> {
  if (GIT_NAME.test(path)) return 'name'
  if (stats.isSymbolicLink()) return undefined
  if (!stats.isFile()) return 'special_file'
  if (stats.size > limits.fileBytes) return 'file_too_large'
  const isReadable = await access(at, constants.R_OK).then(
    () => true,
    () => false,
  )
  return isReadable ? undefined : 'unreadable'
}

/** git stores no such name, in any case. */
const GIT_NAME = /(?:^|\/)\.git(?:\/|$)/i

/** Limits a call to the folder, without those that git must not look into. */
function within({ prefix }: FolderRoot, without: ReadonlySet<string>): readonly string[] {
  const parts = [...(prefix === '' ? [] : [pathspec(prefix)]), ...[...without].map(notPathspec)]
  return parts.length === 0 ? [] : ['--', ...parts]
}
