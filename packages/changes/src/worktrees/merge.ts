import { AgentprotoError } from '@agentproto/contracts'
import type { MergeResult, MergeWorktree, Worktree } from '@agentproto/contracts/agent'
import { isFile } from '../git/repository-files.js'
import { Checkout } from './checkout.js'
import { mergedTree } from './merged-tree.js'
import type { BranchMove, Repository } from './repository.js'

/** Everything is computed as objects first; then the checkout of the target, if there is one, and the branches are moved. */
export async function mergeWorktree(
  repository: Repository,
  worktree: Worktree,
  request: MergeWorktree,
): Promise<MergeResult> {
  const into = request.into ?? worktree.base
  const [target, branch] = [await repository.branchCommit(into), await repository.branchCommit(worktree.branch)]
  if (target === undefined || branch === undefined || into === worktree.branch) throw unknownBranch(into, worktree)
  const identity = await repository.identity()
  const source = await committed({ repository, worktree, request, branch, identity })
  const merge = new Merge({
    repository,
    identity,
    target,
    source: source.commit,
    message: messageOf(worktree, request),
  })
  const result = await merge.run(request.strategy)
  const moves = source.commit === branch ? [] : [{ branch: worktree.branch, from: branch, to: source.commit }]
  if (result.commit !== target) moves.unshift({ branch: into, from: target, to: result.commit })
  const checkout = result.commit === target ? undefined : await checkoutOf(repository, into)
  if (checkout !== undefined) request.beforeUpdate?.(checkout)
  repository.beginWrites()
  await moveAll(repository, moves, into)
  await source.finish()
  return { into, ...result }
}

interface Source {
  readonly commit: string
  /** Makes the index of the worktree agree with the commit. */
  readonly finish: () => Promise<void>
}

interface Sourcing {
  readonly repository: Repository
  readonly worktree: Worktree
  readonly request: MergeWorktree
  readonly branch: string
  readonly identity: Readonly<Record<string, string>>
}

/** The branch, with what is uncommitted as a further commit where that was asked for. */
async function committed({ repository, worktree, request, branch, identity }: Sourcing): Promise<Source> {
  const nothing = { commit: branch, finish: async () => undefined }
  if (!(await isFile(`${worktree.path}/.git`))) return nothing
  const checkout = await Checkout.open(repository, worktree.path)
  const operation = await checkout.operation()
  const head = await checkout.head()
  if (operation !== undefined) throw unsaved(worktree, `It is in the middle of a ${operation}`)
  const dirty = await checkout.dirty(head.commit ?? branch)
  if (dirty.length === 0) return nothing
  if (request.commitFirst !== true) throw unsaved(worktree, `${dirty.length} files are not committed`, dirty)
  if (head.branch !== worktree.branch) throw unsaved(worktree, `${worktree.branch} is not checked out in it`, dirty)
  const nested = dirty.filter((path) => path.endsWith('/'))
  if (nested.length > 0) throw unsaved(worktree, 'It has repositories inside, which cannot be committed', nested)
  const { tree, finish } = await checkout.stage()
  const input = [Buffer.from(messageOf(worktree, request))]
  const commit = await repository.text(['commit-tree', tree, '-p', branch], { env: identity, input })
  return { commit, finish }
}

interface MergeParts {
  readonly repository: Repository
  readonly identity: Readonly<Record<string, string>>
  readonly target: string
  readonly source: string
  readonly message: string
}

type Merged = Pick<MergeResult, 'commit' | 'commits'>

class Merge {
  readonly #parts: MergeParts

  constructor(parts: MergeParts) {
    this.#parts = parts
  }

  async run(strategy: MergeWorktree['strategy']): Promise<Merged> {
    const { target } = this.#parts
    const commits = await this.#missing()
    if (commits.length === 0) return { commit: target, commits: 0 }
    switch (strategy) {
      case 'merge':
        return { commit: await this.#merge(), commits: commits.length + 1 }
      case 'squash':
        return this.#squash()
      case 'rebase':
        return this.#rebase()
    }
  }

  async #merge(): Promise<string> {
    const { target, source } = this.#parts
    const tree = await this.#tree(target, source)
    return this.#commit(tree, [target, source])
  }

  async #squash(): Promise<Merged> {
    const { repository, target, source } = this.#parts
    const tree = await this.#tree(target, source)
    if (tree === (await treeOf(repository, target))) return { commit: target, commits: 0 }
    return { commit: await this.#commit(tree, [target]), commits: 1 }
  }

  /** Applies each commit, oldest first, without merges and without those that change nothing any more. */
  async #rebase(): Promise<Merged> {
    const { repository, target } = this.#parts
    let commit = target
    let commits = 0
    for (const each of await this.#missing('--no-merges', '--topo-order')) {
      const parents = await repository.text(['rev-list', '--parents', '--max-count=1', each])
      const [, parent] = parents.split(' ')
      const tree = await this.#tree(await this.#onParent(commit, parent), each)
      if (tree === (await treeOf(repository, commit))) continue
      commit = await this.#reapplied(each, { tree, parent: commit })
      commits += 1
    }
    return { commit, commits }
  }

  /** The files of a commit as if they had been made after another: the merge of both then is what the other changes. */
  async #onParent(commit: string, parent: string | undefined): Promise<string> {
    const { repository } = this.#parts
    return this.#commit(await treeOf(repository, commit), parent === undefined ? [] : [parent])
  }

  async #reapplied(
    commit: string,
    { tree, parent }: { readonly tree: string; readonly parent: string },
  ): Promise<string> {
    const { repository, identity } = this.#parts
    const shown = await repository.text([
      'show',
      '-s',
      '--no-color',
      '--format=%an%x00%ae%x00%ad%x00%B',
      '--date=raw',
      commit,
    ])
    const [name = '', email = '', date = '', message = ''] = shown.split('\0')
    const env = { ...identity, GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date }
    return repository.text(['commit-tree', tree, '-p', parent], { env, input: [Buffer.from(message)] })
  }

  async #commit(tree: string, parents: readonly string[]): Promise<string> {
    const { repository, identity, message } = this.#parts
    const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])]
    return repository.text(args, { env: identity, input: [Buffer.from(message)] })
  }

  async #tree(ours: string, theirs: string): Promise<string> {
    const merged = await mergedTree(this.#parts.repository, ours, theirs)
    if (merged.kind === 'tree') return merged.tree
    throw new AgentprotoError('merge_conflict', `The merge has conflicts in ${merged.files.length} files.`, {
      hint: 'Merge the base into the branch inside of the worktree, resolve the conflicts there, and merge again.',
      data: { files: merged.files.slice(0, 100) },
    })
  }

  /** Commits that the target does not have, oldest first. */
  async #missing(...options: readonly string[]): Promise<readonly string[]> {
    const { repository, target, source } = this.#parts
    const found = await repository.text(['rev-list', '--reverse', ...options, `${target}..${source}`])
    return found === '' ? [] : found.split('\n')
  }
}

/** The checkout first: it can refuse. It is moved back where a branch was moved meanwhile. */
async function moveAll(repository: Repository, moves: readonly BranchMove[], into: string): Promise<void> {
  if (moves.length === 0) return
  const target = moves.find(({ branch }) => branch === into)
  const folder = await checkoutOf(repository, into)
  const checkout = folder === undefined ? undefined : await Checkout.open(repository, folder)
  if (target !== undefined) await checkout?.move(target.from, target.to)
  try {
    await repository.moveBranches(moves, 'agentproto: merge')
  } catch (thrown) {
    if (target !== undefined) await checkout?.move(target.to, target.from)
    throw thrown
  }
}

/** Where a branch is checked out. */
const checkoutOf = async (repository: Repository, branch: string): Promise<string | undefined> =>
  (await repository.worktrees()).find((each) => each.branch === branch)?.path

const treeOf = (repository: Repository, commit: string): Promise<string> =>
  repository.text(['rev-parse', '--verify', `${commit}^{tree}`])

const messageOf = ({ branch }: Worktree, { message, into, strategy }: MergeWorktree): string =>
  `${message ?? `${strategy === 'merge' ? 'Merge' : 'Work of'} ${branch}${into === undefined ? '' : ` into ${into}`}`}\n`

const unknownBranch = (into: string, { branch }: Worktree): AgentprotoError =>
  new AgentprotoError('branch_invalid', 'The worktree cannot be merged into this branch.', {
    expected: `a branch, other than ${branch}, and that both exist`,
    given: into,
  })

const unsaved = (worktree: Worktree, what: string, files: readonly string[] = []): AgentprotoError =>
  new AgentprotoError('worktree_unsaved', `The worktree ${worktree.path} cannot be merged: ${what}.`, {
    hint: 'Finish and commit it in the worktree, or let the merge commit it first.',
    data: { files: files.slice(0, 100) },
  })
