import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathBytes } from '../git/path-text.js'
import { allRecords } from '../git/records.js'
import type { Repository } from './repository.js'

/** A tree, or the files that both sides changed in the same places. */
export type MergedTree =
  | { readonly kind: 'tree'; readonly tree: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }

interface Stage {
  readonly mode: string
  readonly oid: string
}

/** Base, ours, theirs. */
type Stages = readonly [Stage | undefined, Stage | undefined, Stage | undefined]

/**
 * A merge with commands that every git has: path by path, without renames, so that what both sides renamed or edited is a conflict
 * more often.
 */
export async function mergedTreeByFiles(repository: Repository, ours: string, theirs: string): Promise<MergedTree> {
  const index = join(repository.temporary, 'merge-index')
  await rm(index, { force: true })
  const env = { GIT_INDEX_FILE: index }
  const bases = await repository.text(['merge-base', ours, theirs], { accept: [0, 1] })
  const base = bases === '' ? await emptyTree(repository) : bases
  await repository.text(['read-tree', '-i', '-m', '--aggressive', base, ours, theirs], { env })
  const conflicts: string[] = []
  for (const [path, stages] of await unmerged(repository, env)) {
    const merged = await mergeFile(repository, stages)
    if (merged === undefined) conflicts.push(path)
    else await repository.text(['update-index', '-z', '--index-info'], { env, input: [entryOf(path, merged)] })
  }
  if (conflicts.length > 0) return { kind: 'conflict', files: conflicts }
  return { kind: 'tree', tree: await repository.text(['write-tree'], { env }) }
}

const emptyTree = (repository: Repository): Promise<string> =>
  repository.text(['hash-object', '-t', 'tree', '-w', '--stdin'], { input: [] })

async function unmerged(repository: Repository, env: Readonly<Record<string, string>>) {
  const { stdout } = await repository.objects.run({ args: ['ls-files', '-u', '-z'], env, signal: repository.signal })
  const found = new Map<string, [Stage | undefined, Stage | undefined, Stage | undefined]>()
  for (const record of allRecords(stdout)) {
    const [mode = '', oid = '', stage = ''] = record.slice(0, record.indexOf('\t')).split(' ')
    const path = record.slice(record.indexOf('\t') + 1)
    const stages = found.get(path) ?? [undefined, undefined, undefined]
    stages[Number(stage) - 1] = { mode, oid }
    found.set(path, stages)
  }
  return found
}

/** The merged file; absent for a conflict. */
async function mergeFile(repository: Repository, [base, ours, theirs]: Stages): Promise<Stage | undefined> {
  if (base === undefined || ours === undefined || theirs === undefined) return undefined
  if (![base, ours, theirs].every(({ mode }) => mode.startsWith('100'))) return undefined
  const files = await Promise.all([ours, base, theirs].map((side, at) => contentOf(repository, side, `side-${at}`)))
  const args = ['merge-file', '-p', '-q', ...files]
  const { exitCode, stdout } = await repository.objects.run({ args, accept: ANY, signal: repository.signal })
  if (exitCode !== 0) return undefined
  const oid = await repository.text(['hash-object', '-w', '--stdin', '--no-filters'], { input: [stdout] })
  return { mode: ours.mode === base.mode ? theirs.mode : ours.mode, oid }
}

async function contentOf(repository: Repository, { oid }: Stage, name: string): Promise<string> {
  const call = { args: ['cat-file', 'blob', oid], signal: repository.signal }
  const path = join(repository.temporary, name)
  await writeFile(path, (await repository.objects.run(call)).stdout)
  return path
}

/** The exit code is the number of conflicts. */
const ANY = Array.from({ length: 256 }, (_, code) => code)

const entryOf = (path: string, { mode, oid }: Stage): Buffer => {
  const absent = '0'.repeat(oid.length)
  return pathBytes(`0 ${absent}\t${path}\0${mode} ${oid} 0\t${path}\0`)
}
