import type { ChangeStatus, ChangeTotals, FileChange } from '@agentproto/contracts/agent'
import type { Git } from '../git/git.js'
import { records } from '../git/records.js'

/** Two trees, to be compared. */
export interface TreePair {
  readonly from: string
  readonly to: string
  readonly signal: AbortSignal
}

/** One side of a changed path. */
export interface TreeEntry {
  /** `100644`, `100755` or `120000`. */
  readonly mode: string
  readonly oid: string
}

/** A changed path, without renames. A side is absent where the file is. */
export interface EntryChange {
  readonly path: string
  readonly from?: TreeEntry
  readonly to?: TreeEntry
}

const COMPARE = ['diff-tree', '-r', '-z', '--no-ext-diff', '--no-textconv', '--no-color', '--no-abbrev']

/** The changed files with their numbers of lines, renames detected, by path. */
export async function listChanges(git: Git, { from, to, signal }: TreePair): Promise<readonly FileChange[]> {
  const lines = new LineReader(git.stream({ args: [...COMPARE, '--raw', '--numstat', '-M', from, to], signal }))
  const statuses = new Map<string, ChangeStatus>()
  const files: FileChange[] = []
  for (let record = await lines.next(); record !== undefined; record = await lines.next()) {
    if (record.startsWith(':')) {
      const status = statusOf(record)
      const path = await lines.expect()
      statuses.set(status === 'renamed' ? await lines.expect() : path, status)
    } else files.push(await numbered(record, { lines, statuses }))
  }
  return files
}

/** The changed paths with their objects. */
export async function listEntries(git: Git, { from, to, signal }: TreePair): Promise<readonly EntryChange[]> {
  const lines = new LineReader(git.stream({ args: [...COMPARE, '--raw', '--no-renames', from, to], signal }))
  const changes: EntryChange[] = []
  for (let record = await lines.next(); record !== undefined; record = await lines.next()) {
    const [fromMode = '', toMode = '', fromOid = '', toOid = ''] = record.slice(1).split(' ')
    changes.push({
      path: await lines.expect(),
      ...(fromMode === ABSENT ? {} : { from: { mode: fromMode, oid: fromOid } }),
      ...(toMode === ABSENT ? {} : { to: { mode: toMode, oid: toOid } }),
    })
  }
  return changes
}

export function totalsOf(files: readonly FileChange[]): ChangeTotals {
  let additions = 0
  let deletions = 0
  for (const file of files) {
    additions += file.additions
    deletions += file.deletions
  }
  return { files: files.length, additions, deletions }
}

const ABSENT = '000000'

interface Numbering {
  readonly lines: LineReader
  readonly statuses: ReadonlyMap<string, ChangeStatus>
}

/** `added<TAB>deleted<TAB>path`, or for a rename an empty path and both paths after it. */
async function numbered(record: string, { lines, statuses }: Numbering): Promise<FileChange> {
  const first = record.indexOf('\t')
  const second = record.indexOf('\t', first + 1)
  const [added, deleted, same] = [record.slice(0, first), record.slice(first + 1, second), record.slice(second + 1)]
  const oldPath = same === '' ? await lines.expect() : undefined
  const path = oldPath === undefined ? same : await lines.expect()
  return {
    path,
    ...(oldPath === undefined ? {} : { oldPath }),
    status: statuses.get(path) ?? 'modified',
    additions: Number(added) || 0,
    deletions: Number(deleted) || 0,
    binary: added === '-',
  }
}

function statusOf(raw: string): ChangeStatus {
  const letter = raw.slice(raw.lastIndexOf(' ') + 1, raw.lastIndexOf(' ') + 2)
  const status = STATUSES[letter]
  if (status === undefined) throw new Error(`git diff-tree wrote an unknown status: ${raw}`)
  return status
}

const STATUSES: Readonly<Record<string, ChangeStatus>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  T: 'type_changed',
}

/** Records one by one. */
class LineReader {
  readonly #records: AsyncGenerator<string>

  constructor(output: AsyncIterable<Buffer>) {
    this.#records = records(output)
  }

  async next(): Promise<string | undefined> {
    const { done, value } = await this.#records.next()
    return done === true ? undefined : value
  }

  async expect(): Promise<string> {
    const record = await this.next()
    if (record === undefined) throw new Error('The output of git diff-tree ended within a record')
    return record
  }
}
