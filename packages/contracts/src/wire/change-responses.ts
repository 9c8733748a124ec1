import * as z from 'zod'
import { CHANGE_STATUSES, KEPT_REASONS, LEFT_OUT_REASONS } from '../agent/change-store.js'
import { changeTotals, time } from './session-responses.js'
import type { ValueOf } from './value-of.js'

// What the gateway answers about what a session changed in its folder.

const count = z.int().min(0)

const state = z.object({
  checkpoint: z.string().optional().describe('Absent for the files as they are now'),
  turn: count.optional().describe('The turn at whose end it was recorded'),
  at: time,
})
/** One of two compared states. */
export type ComparedState = ValueOf<typeof state>

const status = z.enum(CHANGE_STATUSES)
const fileChange = z.object({
  /** Relative to the folder, with `/`. A byte that is not UTF-8 is a character from U+DC80 to U+DCFF. */
  path: z.string(),
  oldPath: z.string().optional(),
  status,
  additions: count,
  deletions: count,
  binary: z.boolean(),
})

export const sessionChanges = z.object({
  from: state,
  to: state,
  files: z.array(fileChange).describe('By path; the first 10 000'),
  totals: changeTotals.describe('Of all files, listed or not'),
  shared: z.boolean().describe('Another session worked in the folder meanwhile: its changes are among these'),
  leftOut: z
    .array(z.object({ path: z.string(), reason: z.enum(LEFT_OUT_REASONS) }))
    .describe('What is not recorded, so that its changes are not known; the first 200'),
})
/** What changed between two states of a session's folder. */
export type SessionChanges = ValueOf<typeof sessionChanges>

export const review = z.object({ at: time, checkpoint: z.string(), turn: count.optional() })

export const rewoundFiles = z.object({
  dryRun: z.boolean(),
  to: state,
  changed: z.array(z.object({ path: z.string(), status })).describe('What was changed; the first 10 000'),
  changedCount: count,
  kept: z
    .array(z.object({ path: z.string(), reason: z.enum(KEPT_REASONS), detail: z.string().optional() }))
    .describe('What differs and was left as it is; the first 10 000'),
  before: z.string().optional().describe('Checkpoint of the files before; rewind to it to undo this'),
})
/** What a rewind changed, or would change. */
export type RewoundFiles = ValueOf<typeof rewoundFiles>
