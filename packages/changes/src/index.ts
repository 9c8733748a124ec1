// What sessions change: checkpoints, differences, rewind, worktrees. This file is the package's contract: every export is named here.
export { createChangeStore } from './change-store.js'
export type { ChangeStoreOptions } from './change-store.js'
export { DEFAULT_LIMITS } from './limits.js'
export type { ChangeLimits } from './limits.js'
export { createWorktrees } from './worktrees/worktrees.js'
export type { WorktreesOptions } from './worktrees/worktrees.js'
export { createPreparation } from './preparation/prepare-worktree.js'
export type { PreparationOptions } from './preparation/prepare-worktree.js'
