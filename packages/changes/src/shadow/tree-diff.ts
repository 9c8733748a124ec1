import type { ChangeStatus, ChangeTotals, FileChange } from '@agentproto/contracts/agent'
import type { Git } from '../git/git.js'
import { recordBatches } from '../git/records.js'

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
  if (from === to) return []
  const files: FileChange[] = []
  const output = git.stream({ args: [...COMPARE, '--raw', '--numstat', '-M', from, to], signal })
  await parse(output, changeParser(files))
  return files
}

/** The changed paths with their objects. */
export async function listEntries(git: Git, { from, to, signal }: TreePair): Promise<readonly EntryChange[]> {
  const changes: EntryChange[] = []
  const output = git.stream({ args: [...COMPARE, '--raw', '--no-renames', from, to], signal })
  await parse(output, entryParser(changes))
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

/** Gets records one by one, and says whether the next one begins something or belongs to what has begun. */
type Parser = Generator<'begin' | 'rest', never, string>

async function parse(output: AsyncIterable<Buffer>, parser: Parser): Promise<void> {
  let expected = parser.next('').value
  for await (const batch of recordBatches(output)) for (const record of batch) expected = parser.next(record).value
  if (expected === 'rest') throw new Error('The output of git diff-tree ended within a record')
}

function* changeParser(files: FileChange[]): Parser {
  const statuses = new Map<string, ChangeStatus>()
  for (;;) {
    const record = yield 'begin'
    if (record.startsWith(':')) {
      const status = statusOf(record)
      const path = yield 'rest'
      statuses.set(status === 'renamed' ? yield 'rest' : path, status)
    } else files.push(yield* numbered(record, statuses))
  }
}

/** `added<TAB>deleted<TAB>path`, or for a rename an empty path and both paths after it. */
function* numbered(record: string, statuses: ReadonlyMap<string, ChangeStatus>): Generator<'rest', FileChange, string> {
  const first = record.indexOf('\t')
  const second = record.indexOf('\t', first + 1)
  const [added, deleted, same] = [record.slice(0, first), record.slice(first + 1, second), record.slice(second + 1)]
  const oldPath = same === '' ? yield 'rest' : undefined
  const path = oldPath === undefined ? same : yield 'rest'
  return {
    path,
    ...(oldPath === undefined ? {} : { oldPath }),
    status: statuses.get(path) ?? 'modified',
    additions: Number(added) || 0,
    deletions: Number(deleted) || 0,
    binary: added === '-',
  }
}

function* entryParser(changes: EntryChange[]): Parser {
  for (;;) {
    const [fromMode = '', toMode = '', fromOid = '', toOid = ''] = (yield 'begin').slice(1).split(' ')
    changes.push({
      path: yield 'rest',
      ...(fromMode === ABSENT ? {} : { from: { mode: fromMode, oid: fromOid } }),
      ...(toMode === ABSENT ? {} : { to: { mode: toMode, oid: toOid } }),
    })
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
