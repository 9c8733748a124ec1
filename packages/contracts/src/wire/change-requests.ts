import * as z from 'zod'
import { path } from './requests.js'

/** Bounds of what is said about changes. */
export const CHANGE_BOUNDS = {
  /** A patch is cut after so many bytes. */
  patchBytes: 16 * 1024 * 1024,
  /** Paths of one rewind. */
  rewindPaths: 1_000,
  /** Paths of one patch; a URL has no room for many. */
  patchPaths: 100,
} as const

const checkpointId = z.string().min(1).max(100)
/**
 * A state of a session's folder: `start`, `now`, `reviewed` (by the last review, else the start), the number of a turn for the
 * files at its end, or the id of a checkpoint.
 */
export const stateRefSchema = z.union([checkpointId, z.int().min(0)])
export type StateName = z.infer<typeof stateRefSchema>

export const changesQuerySchema = z.strictObject({
  from: stateRefSchema.optional().describe('start (default), reviewed, a turn or a checkpoint'),
  to: stateRefSchema.optional().describe('now (default), a turn or a checkpoint'),
  turn: z.coerce.number().int().min(1).optional().describe('What this turn changed; instead of from and to'),
})
export type ChangesQuery = Readonly<z.infer<typeof changesQuerySchema>>

export const patchQuerySchema = changesQuerySchema.extend({
  path: z
    .union([path, z.array(path).min(1).max(CHANGE_BOUNDS.patchPaths)])
    .optional()
    .describe('One file or folder, relative to the session’s folder; may be repeated'),
})
export type PatchQuery = Readonly<z.infer<typeof patchQuerySchema>>

/** Without a turn the files as they are now are reviewed. */
export const reviewedRequestSchema = z.strictObject({
  turn: z.int().min(0).optional().describe('Reviewed are the files at its end; 0 for the session’s start'),
})
export type ReviewedRequest = Readonly<z.infer<typeof reviewedRequestSchema>>

const howToRewind = {
  dryRun: z.boolean().optional().describe('Only list what would be changed'),
  paths: z.array(path).min(1).max(CHANGE_BOUNDS.rewindPaths).optional().describe('Only these files and folders'),
  force: z.boolean().optional().describe('Also while another session runs in the folder'),
}

/** Back to the files of a turn, or of a checkpoint such as `before` of an earlier rewind. */
export const rewindRequestSchema = z.union([
  z.strictObject({
    turn: z.int().min(0).describe('Back to the files at its end; 0 for the session’s start'),
    ...howToRewind,
  }),
  z.strictObject({ checkpoint: checkpointId, ...howToRewind }),
])
export type RewindFilesRequest = Readonly<z.infer<typeof rewindRequestSchema>>
