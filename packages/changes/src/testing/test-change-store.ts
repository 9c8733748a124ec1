import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAgentprotoError } from '@agentproto/contracts'
import {
  type ChangeStore,
  type ChangeTotals,
  type Checkpoint,
  type FolderChanges,
  NOW,
} from '@agentproto/contracts/agent'

/** A store to be tested. */
export interface ChangeStoreSubject {
  /** Registers one test: `test` of vitest, of `node:test`, or whatever else takes a title and a function. */
  readonly test: (title: string, run: () => Promise<void>) => unknown
  /** Opens a store on a home that exists and is empty at first. Called again, it stands for the next host. */
  readonly open: (home: string) => Promise<ChangeStore> | ChangeStore
}

interface Place {
  readonly folder: string
  readonly changes: FolderChanges
  /** The next host's store. */
  reopen(): Promise<FolderChanges>
  readonly store: ChangeStore
}

/**
 * Registers the conformance suite of change stores (`ChangeStore`) with a test runner: what a checkpoint, a list of changes, a
 * patch, a rewind and a prune promise, whatever the folder is recorded with.
 * @param name of the store, in the tests' titles
 */
export function testChangeStore(name: string, subject: ChangeStoreSubject): void {
  for (const [title, run] of Object.entries(CASES))
    subject.test(`${name}: ${title}`, async () => {
      const root = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-store-')))
      try {
        const [home, folder] = [join(root, 'home'), join(root, 'folder')]
        await mkdir(home)
        await mkdir(folder)
        const store = await subject.open(home)
        const reopen = async (): Promise<FolderChanges> => (await subject.open(home)).open(folder)
        await run({ folder, store, changes: await store.open(folder), reopen })
      } finally {
        await rm(root, { recursive: true, force: true })
      }
    })
}

const CASES: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  'a folder without a checkpoint has none, and the store is empty': async ({ changes, store }) => {
    assert.deepEqual(await changes.list(), [])
    assert.deepEqual(await store.size(), { bytes: 0, folders: 0 })
  },
  'a checkpoint is listed, also by the next host': async ({ folder, changes, reopen }) => {
    await writeFile(join(folder, 'a'), '1\n')
    const start = await take(changes)
    const first = await take(changes, 1)
    assert.deepEqual(await changes.list('ses_1'), [start, first])
    assert.deepEqual(await (await reopen()).list(), [start, first])
    assert.deepEqual(await changes.list('ses_2'), [])
  },
  'changes between two checkpoints, and now': async ({ folder, changes }) => {
    await writeFile(join(folder, 'a'), '1\n')
    await writeFile(join(folder, 'gone'), '1\n2\n')
    const start = await take(changes)
    await writeFile(join(folder, 'a'), '1\n2\n')
    await rm(join(folder, 'gone'))
    await writeFile(join(folder, 'new'), Buffer.from([0, 1, 2]))
    const end = await take(changes, 1)
    const list = await changes.changes(start.id, end.id)
    assert.deepEqual(list.files, [
      { path: 'a', status: 'modified', additions: 1, deletions: 0, binary: false },
      { path: 'gone', status: 'deleted', additions: 0, deletions: 2, binary: false },
      { path: 'new', status: 'added', additions: 0, deletions: 0, binary: true },
    ])
    assert.deepEqual(list.totals, { files: 3, additions: 1, deletions: 2 })
    assert.deepEqual([end.files, end.additions, end.deletions], [3, 1, 2])
    assert.deepEqual(await changes.changes(start.id, NOW), list)
    assert.deepEqual((await changes.changes(end.id, NOW)).files, [])
  },
  'a checkpoint says what changed since the first of its session, also with the next host': async ({
    folder,
    changes,
    reopen,
  }) => {
    await writeFile(join(folder, 'a'), '1\n')
    assert.deepEqual(await total(changes), { files: 0, additions: 0, deletions: 0 })
    await writeFile(join(folder, 'a'), '1\n2\n')
    assert.deepEqual(await total(changes), { files: 1, additions: 1, deletions: 0 })
    assert.deepEqual(await total(changes), { files: 1, additions: 1, deletions: 0 })
    await writeFile(join(folder, 'b'), '3\n')
    assert.deepEqual(await total(changes), { files: 2, additions: 2, deletions: 0 })
    const next = await reopen()
    assert.deepEqual(await total(next), { files: 2, additions: 2, deletions: 0 })
    await rm(join(folder, 'b'))
    await writeFile(join(folder, 'a'), '1\n')
    assert.deepEqual(await total(next), { files: 0, additions: 0, deletions: 0 })
    await writeFile(join(folder, 'a'), '')
    assert.deepEqual(await total(next), { files: 1, additions: 0, deletions: 1 })
  },
  'a patch is unified, of the paths that were asked for, and not longer than allowed': async ({ folder, changes }) => {
    const start = await take(changes)
    await writeFile(join(folder, 'a'), 'one\n')
    await writeFile(join(folder, 'b'), 'two\n')
    const patch = await text(changes, { from: start.id, to: NOW, paths: ['a'], maxBytes: 10_000 })
    assert.match(patch, /^\+one$/m)
    assert.doesNotMatch(patch, /two/)
    assert.equal((await text(changes, { from: start.id, to: NOW, maxBytes: 20 })).length, 20)
  },
  'a rewind restores files, and can be rewound': async ({ folder, changes, reopen }) => {
    await writeFile(join(folder, 'a'), 'first\r\n')
    await symlink('a', join(folder, 'link'))
    const start = await take(changes)
    await writeFile(join(folder, 'a'), 'second\n')
    await rm(join(folder, 'link'))
    await mkdir(join(folder, 'deep'))
    await writeFile(join(folder, 'deep/b'), 'b')
    const next = await reopen()
    const dry = await next.rewind({ session: 'ses_1', to: start.id, dryRun: true })
    assert.equal(await readFile(join(folder, 'a'), 'utf8'), 'second\n')
    const { before, changed, kept } = await next.rewind({ session: 'ses_1', to: start.id })
    assert.deepEqual([dry.changed, kept], [changed, []])
    assert.deepEqual(await readdir(folder), ['a', 'link'])
    assert.equal(await readFile(join(folder, 'link'), 'utf8'), 'first\r\n')
    await next.rewind({ session: 'ses_1', to: before?.id ?? '' })
    assert.deepEqual(await readdir(folder, { recursive: true }), ['a', 'deep', 'deep/b'])
  },
  'the files of a checkpoint are copied to another folder': async ({ folder, changes }) => {
    await writeFile(join(folder, 'a'), '1')
    const { id } = await take(changes)
    const other = join(folder, '../other')
    await mkdir(other)
    await writeFile(join(other, 'b'), 'not in the checkpoint')
    await changes.copy({ checkpoint: id, into: other })
    assert.deepEqual([await readdir(other), await readFile(join(other, 'a'), 'utf8')], [['a'], '1'])
  },
  'a path outside of the folder is refused': async ({ folder, changes }) => {
    await writeFile(join(folder, 'a'), '1')
    const { id } = await take(changes)
    for (const path of ['../x', '/etc/passwd', 'a/../../x', ''])
      await assert.rejects(changes.rewind({ session: 'ses_1', to: id, paths: [path] }), hasCode('path_invalid'))
  },
  'an unknown checkpoint is not found': async ({ changes }) => {
    const { id } = await take(changes)
    await assert.rejects(changes.changes('unknown', id), hasCode('checkpoint_not_found'))
    await assert.rejects(changes.rewind({ session: 'ses_1', to: 'unknown' }), hasCode('checkpoint_not_found'))
    await assert.rejects(text(changes, { from: id, to: 'unknown', maxBytes: 1 }), hasCode('checkpoint_not_found'))
  },
  'a folder that is gone is skipped, and its checkpoints can be compared': async ({ folder, changes }) => {
    await writeFile(join(folder, 'a'), '1')
    const start = await take(changes)
    await writeFile(join(folder, 'a'), '2')
    const end = await take(changes, 1)
    await rm(folder, { recursive: true })
    const result = await changes.checkpoint({ session: 'ses_1' })
    assert.equal(result.kind === 'skipped' ? result.reason : result.kind, 'folder_missing')
    assert.equal((await changes.changes(start.id, end.id)).files.length, 1)
  },
  'pruned sessions are gone, and the others stay': async ({ folder, changes, store }) => {
    await writeFile(join(folder, 'a'), '1')
    const old = await take(changes)
    const kept = await changes.checkpoint({ session: 'ses_2' })
    const { checkpoints, problems } = await store.prune({ sessions: ['ses_1'] })
    assert.deepEqual([checkpoints, problems], [1, []])
    assert.deepEqual(await changes.list(), kept.kind === 'taken' ? [kept.checkpoint] : [])
    await assert.rejects(changes.changes(old.id, NOW), hasCode('checkpoint_not_found'))
    await store.prune({ before: Number.MAX_SAFE_INTEGER })
    assert.deepEqual(await store.size(), { bytes: 0, folders: 0 })
  },
  'an abort rejects, and the next call works': async ({ folder, changes }) => {
    await writeFile(join(folder, 'a'), '1')
    await assert.rejects(changes.checkpoint({ session: 's', signal: AbortSignal.abort() }), hasCode('cancelled'))
    await take(changes)
  },
}

async function take(changes: FolderChanges, turn?: number): Promise<Checkpoint> {
  const result = await changes.checkpoint({ session: 'ses_1', ...(turn === undefined ? {} : { turn }) })
  if (result.kind === 'taken') return result.checkpoint
  throw new assert.AssertionError({ message: `The checkpoint was skipped: ${result.reason}: ${result.detail}` })
}

async function total(changes: FolderChanges): Promise<ChangeTotals | undefined> {
  const result = await changes.checkpoint({ session: 'ses_1' })
  return result.kind === 'taken' ? result.total : undefined
}

async function text(changes: FolderChanges, request: Parameters<FolderChanges['diff']>[0]): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of changes.diff(request)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

const hasCode =
  (code: string) =>
  (thrown: unknown): boolean =>
    isAgentprotoError(thrown) && thrown.code === code
