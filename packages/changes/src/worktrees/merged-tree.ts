import { isAtLeast } from '../git/git-program.js'
import { allRecords } from '../git/records.js'
import { type MergedTree, mergedTreeByFiles } from './merge-by-files.js'
import type { Repository } from './repository.js'

/** Since this version git merges two commits without a worktree, and follows renames. */
const MERGE_TREE = { major: 2, minor: 38 }

/** Merges two commits to a tree; changes no branch and no file. */
export async function mergedTree(repository: Repository, ours: string, theirs: string): Promise<MergedTree> {
  if (!isAtLeast(repository.program, MERGE_TREE)) return mergedTreeByFiles(repository, ours, theirs)
  const options = ['--write-tree', '--name-only', '--no-messages', '-z', '--allow-unrelated-histories']
  const args = ['merge-tree', ...options, ours, theirs]
  const { exitCode, stdout } = await repository.objects.run({ args, accept: [0, 1], signal: repository.signal })
  const [tree = '', ...files] = allRecords(stdout)
  if (exitCode === 0) return { kind: 'tree', tree }
  return { kind: 'conflict', files: [...new Set(files.filter((path) => path !== ''))] }
}
