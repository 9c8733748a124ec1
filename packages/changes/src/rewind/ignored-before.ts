import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Git } from '../git/git.js'
import { fsPath } from '../git/path-text.js'
import type { ShadowRepository, Snapshot } from '../shadow/shadow-repository.js'
import { type EntryChange, listEntries } from '../shadow/tree-diff.js'
import { readBlobs } from './blobs.js'

export interface IgnoreQuestion {
  readonly now: Snapshot
  readonly target: Snapshot
  readonly git: Git
  readonly shadow: ShadowRepository
  readonly signal: AbortSignal
}

const RULES = '.gitignore'

/**
 * The files that would be deleted although the earlier state ignored them: it does not say whether they existed. Asked only
 * where ignore rules changed since.
 */
export async function ignoredBefore(
  changes: readonly EntryChange[],
  question: IgnoreQuestion,
): Promise<ReadonlySet<string>> {
  const { now, target, git, signal } = question
  const all = await listEntries(git, { from: now.tree, to: target.tree, signal })
  const deleted = changes.filter(({ to }) => to === undefined).map(({ path }) => path)
  if (deleted.length === 0 || !all.some(({ path }) => isRules(path))) return new Set()
  return withRules(question, (folder) => question.shadow.ignored(folder, deleted, signal))
}

/** Runs with a temporary folder that has the ignore files of the earlier state. */
async function withRules<T>(question: IgnoreQuestion, run: (folder: string) => Promise<T>): Promise<T> {
  const { target, git, signal } = question
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-rules-')))
  try {
    const rules = (await listEntries(git, { from: EMPTY_TREE, to: target.tree, signal })).filter(
      ({ path, to }) => isRules(path) && to?.mode !== '120000',
    )
    const contents = readBlobs(git, { oids: rules.map(({ to }) => to?.oid ?? ''), signal })
    for (const { path } of rules) {
      const at = join(folder, path)
      const { value } = await contents.next()
      await mkdir(fsPath(dirname(at)), { recursive: true })
      await writeFile(fsPath(at), value ?? '')
    }
    return await run(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

const isRules = (path: string): boolean => path === RULES || path.endsWith(`/${RULES}`)
