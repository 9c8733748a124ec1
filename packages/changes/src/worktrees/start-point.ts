import { AgentprotoError } from '@agentproto/contracts'
import type { CreateWorktree } from '@agentproto/contracts/agent'
import type { Repository } from './repository.js'

/** What a new worktree starts from. */
export interface StartPoint {
  readonly branchExists: boolean
  /** A branch or a commit. */
  readonly base: string
  readonly commit: string
}

export type StartRequest = Pick<CreateWorktree, 'base'> & { readonly branch: string }

/** @throws `branch_invalid`; `repository_invalid` where there is no commit */
export async function findStart(repository: Repository, request: StartRequest): Promise<StartPoint> {
  const existing = await repository.branchCommit(request.branch)
  return existing === undefined ? newBranch(repository, request) : existingBranch(repository, request, existing)
}

async function newBranch(repository: Repository, { base }: StartRequest): Promise<StartPoint> {
  const from = base ?? (await checkedOut(repository))
  if (from === undefined)
    throw new AgentprotoError('repository_invalid', 'The repository has no commit yet.', {
      given: repository.folder,
      hint: 'Commit something first.',
    })
  const commit = await repository.commitOf(from)
  if (commit === undefined)
    throw new AgentprotoError('branch_invalid', 'The base is neither a branch nor a commit.', { given: from })
  const isBranch = (await repository.branchCommit(from)) !== undefined
  return { branchExists: false, base: isBranch ? from : commit, commit }
}

async function existingBranch(
  repository: Repository,
  { branch, base }: StartRequest,
  commit: string,
): Promise<StartPoint> {
  const other = (await repository.worktrees()).find((each) => each.branch === branch)
  if (other !== undefined)
    throw new AgentprotoError('branch_invalid', 'The branch is checked out.', {
      expected: 'a branch that is not checked out',
      given: `${branch} in ${other.path}`,
    })
  if (base !== undefined)
    throw new AgentprotoError('branch_invalid', 'The branch exists.', {
      expected: 'a new branch where a base is given',
      given: branch,
    })
  return { branchExists: true, base: (await checkedOut(repository)) ?? commit, commit }
}

/** The branch, or the commit, of the folder that was given; absent before the first commit. */
async function checkedOut(repository: Repository): Promise<string | undefined> {
  const { branch, commit } = await repository.head()
  return commit === undefined ? undefined : (branch ?? commit)
}
