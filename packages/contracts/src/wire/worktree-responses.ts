import * as z from 'zod'
import { acknowledged } from './session-responses.js'
import type { ValueOf } from './value-of.js'

const mergedWorktree = z.object({
  into: z.string().describe('The branch that was merged into'),
  commit: z.string().describe('Its commit now'),
  commits: z.int().min(0).describe('How many commits it received; 0 where there was nothing to merge'),
})
export type MergedWorktree = ValueOf<typeof mergedWorktree>
export const worktreeMerged = acknowledged.extend(mergedWorktree.shape)
