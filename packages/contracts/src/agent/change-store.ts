/** Why a state of a folder was not recorded. */
export const SKIP_REASONS = [
  /** The folder does not exist, or is not a folder. */
  'folder_missing',
  /** The folder is a bare repository, or is inside of a `.git`. */
  'repository_internals',
  /** The folder is the home of agentproto, or is inside of its checkpoints. */
  'home',
  'git_missing',
  'git_too_old',
  /** More files or bytes than the limits allow, also without its largest folders. */
  'too_large',
  'time_limit',
  'disk_full',
  /** git or the system reported something else; `detail` has the words. */
  'git_failed',
] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

/** Why a path is not part of a checkpoint that was taken. */
export const LEFT_OUT_REASONS = [
  /** A file over the limit of one file. */
  'file_too_large',
  /** A folder with so many files or bytes that the whole would be over its limit. The path ends with `/`. */
  'folder_too_large',
  /** A repository inside of the folder, such as a submodule. The path ends with `/`. */
  'nested_repository',
  /** A pipe, a socket or a device; with `/` at its end, a folder whose `.gitignore` or `.gitattributes` is a pipe. */
  'special_file',
  /** A name that git does not store: `.git` in another case. */
  'name',
  /** The gateway has no permission to read it. */
  'unreadable',
] as const
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number]

/** A path that a checkpoint does not contain, and that a rewind never touches. */
export interface LeftOut {
  readonly path: string
  readonly reason: LeftOutReason
}

/** A recorded state of a folder. Ignored files are never part of it. */
export interface Checkpoint {
  readonly id: string
  readonly session: string
  /** The number of the turn at whose end it was taken; absent for the start of the session. */
  readonly turn?: number
  readonly label?: string
  /** ISO-8601. */
  readonly at: string
  /** What changed since the previous checkpoint of the session; all zero for its first. */
  readonly files: number
  readonly additions: number
  readonly deletions: number
  /** At most 100. */
  readonly leftOut: readonly LeftOut[]
  /** How many paths were left out in total. */
  readonly leftOutCount: number
}

export type CheckpointResult =
  | {
      readonly kind: 'taken'
      readonly checkpoint: Checkpoint
      /** What changed since the first checkpoint of the session; absent if that could not be found out. */
      readonly total?: ChangeTotals
    }
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly detail: string }

export const CHANGE_STATUSES = ['added', 'modified', 'deleted', 'renamed', 'type_changed'] as const
export type ChangeStatus = (typeof CHANGE_STATUSES)[number]

/**
 * One changed file. A path is relative to the folder, with `/`. A byte of a name that is not UTF-8 is one of the characters
 * U+DC80 to U+DCFF, so that every name has one text; JSON keeps it, `encodeURIComponent` does not accept it.
 */
export interface FileChange {
  readonly path: string
  /** Where a renamed file was. */
  readonly oldPath?: string
  readonly status: ChangeStatus
  /** Lines; 0 for a binary file. */
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
}

export interface ChangeTotals {
  readonly files: number
  readonly additions: number
  readonly deletions: number
}

export interface ChangeList {
  /** In the order of their paths; the first 10,000. */
  readonly files: readonly FileChange[]
  /** Of all files, listed or not. */
  readonly totals: ChangeTotals
  /** What one of the two states does not contain, so that its changes are not known; at most 200. */
  readonly leftOut: readonly LeftOut[]
}

/** A unified patch in pieces. Ends early at its limit of bytes. */
export interface Patch extends AsyncIterable<Uint8Array> {
  /** Whether the limit was reached; known once the pieces have been read. */
  readonly truncated: boolean
}

/** Why a rewind left a path as it is. */
export const KEPT_REASONS = [
  /** It is not part of one of the two states. */
  'left_out',
  /** The ignore rules of the earlier state cover it, so that the checkpoint does not say whether it existed. */
  'ignored',
  /** It changed while the rewind was running. */
  'changed_meanwhile',
  /** A parent is a link or not a folder, or something that is not recorded is in its place. */
  'in_the_way',
  /** The system refused; `detail` has its words. */
  'failed',
] as const
export type KeptReason = (typeof KEPT_REASONS)[number]

export interface KeptPath {
  readonly path: string
  readonly reason: KeptReason
  readonly detail?: string
}

export interface RewindResult {
  /** What was changed in the folder, or with `dryRun` would be; the first 10,000. Never `renamed`. */
  readonly changed: readonly Pick<FileChange, 'path' | 'status'>[]
  readonly changedCount: number
  /** What differs from the checkpoint and was left as it is; the first 10,000. */
  readonly kept: readonly KeptPath[]
  /** The state before, to rewind the rewind; absent with `dryRun`. */
  readonly before?: Checkpoint
}

/** A checkpoint's id, or the files as they are now. */
export type StateRef = string

/** The state of the files as they are now. */
export const NOW = 'now' satisfies StateRef

export interface Abortable {
  readonly signal?: AbortSignal
}

export interface CheckpointRequest extends Abortable {
  /** Letters, digits, `_` and `-`. */
  readonly session: string
  readonly turn?: number
  readonly label?: string
}

export interface PatchRequest extends Abortable {
  readonly from: StateRef
  readonly to: StateRef
  /** Only these files and folders. For a renamed file both of its paths. Absent for all. */
  readonly paths?: readonly string[]
  /** At most so many bytes. */
  readonly maxBytes: number
}

export interface RewindRequest extends Abortable {
  /** The checkpoint whose files are wanted. */
  readonly to: string
  /** The session that the checkpoint of now belongs to. */
  readonly session: string
  /** Only these files and folders; absent for all. */
  readonly paths?: readonly string[]
  readonly dryRun?: boolean
}

export interface CopyRequest extends Abortable {
  readonly checkpoint: string
  /** Another folder, such as a new worktree; must exist. What it has and the checkpoint lacks is deleted and not recorded. */
  readonly into: string
}

/**
 * The states of one folder. Every call that reads the folder runs alone, one after the other in the order of the calls.
 * All reject with `cancelled` after an abort.
 */
export interface FolderChanges {
  /** The real path. */
  readonly folder: string
  /** Records the files as they are now. @returns `skipped` where that is not possible; rejects only after an abort */
  checkpoint(request: CheckpointRequest): Promise<CheckpointResult>
  /** The checkpoints of one session, or of all, the oldest first. */
  list(session?: string): Promise<readonly Checkpoint[]>
  /** The files that differ. @throws `checkpoint_not_found`, `checkpoint_failed` where now cannot be read */
  changes(from: StateRef, to: StateRef, options?: Abortable): Promise<ChangeList>
  /** Their differences. Reading it throws `checkpoint_not_found`, `checkpoint_failed`, `path_invalid`. */
  diff(request: PatchRequest): Patch
  /**
   * Sets the files to those of a checkpoint, after a checkpoint of now. Never writes or deletes outside of the folder, also
   * when a folder is replaced by a link meanwhile. A file that changes meanwhile is kept and named.
   * @throws `checkpoint_not_found`, `path_invalid`, `checkpoint_failed` before anything was changed
   */
  rewind(request: RewindRequest): Promise<RewindResult>
  /**
   * Sets the files of another folder to those of a checkpoint, as a rewind does. Its ignored files stay.
   * @throws `checkpoint_not_found`, `checkpoint_failed` before anything was changed
   */
  copy(request: CopyRequest): Promise<RewindResult>
}

export interface PruneRequest extends Abortable {
  /** Checkpoints of these sessions are deleted. */
  readonly sessions?: readonly string[]
  /** Checkpoints taken before this time are deleted; milliseconds since the epoch. */
  readonly before?: number
}

export interface PruneResult {
  /** How many checkpoints were deleted. */
  readonly checkpoints: number
  /** How much smaller the store is. */
  readonly bytes: number
  /** Folders whose checkpoints could not be pruned, each with the reason. */
  readonly problems: readonly string[]
}

export interface StoreSize {
  readonly bytes: number
  /** How many folders have checkpoints. */
  readonly folders: number
}

/** Records what sessions change in their folders. One process per home. */
export interface ChangeStore {
  /** The states of a folder; the same object for the same real path. Writes nothing. */
  open(folder: string): Promise<FolderChanges>
  prune(request: PruneRequest): Promise<PruneResult>
  size(): Promise<StoreSize>
}
