import { AgentprotoError } from '@agentproto/contracts'
import { isAtLeast } from '../git/git-program.js'
import { allRecords } from '../git/records.js'
import type { Repository } from './repository.js'

export type MergedTree =
  | { readonly kind: 'tree'; readonly tree: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }

/** Since this version git merges two commits without a worktree. */
const MERGE_TREE = { major: 2, minor: 38 }

/** Merges two commits to a tree; changes no branch and no file. @throws `git_unavailable` */
export async function mergedTree(repository: Repository, ours: string, theirs: string): Promise<MergedTree> {
  if (!isAtLeast(repository.program, MERGE_TREE))
    throw new AgentprotoError('git_unavailable', 'This git cannot merge without a worktree.', {
      expected: 'git 2.38 or newer',
      given: `git ${repository.program.major}.${repository.program.minor}`,
    })
  const args = [
    'merge-tree',
    '--write-tree',
    '--name-only',
    '--no-messages',
    '-z',
    '--allow-unrelated-histories',
    ours,
    theirs,
  ]
  const { exitCode, stdout } = await repository.objects.run({ args, accept: [0, 1], signal: repository.signal })
  const [tree = '', ...files] = allRecords(stdout)
  if (exitCode === 0) return { kind: 'tree', tree }
  return { kind: 'conflict', files: [...new Set(files.filter((path) => path !== ''))] }
}
