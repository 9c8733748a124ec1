import * as z from 'zod'
import { MERGE_STRATEGIES } from '../agent/worktrees.js'

export const mergeRequestSchema = z.strictObject({
  strategy: z.enum(MERGE_STRATEGIES).optional().describe('Default merge'),
  message: z.string().min(1).max(16_384).optional().describe('Message of the commits that are made; it has a default'),
  force: z.boolean().optional().describe('Also while another session works in the checkout that is updated'),
})
export type MergeWorktreeRequest = z.infer<typeof mergeRequestSchema>

export const discardRequestSchema = z.strictObject({
  force: z.boolean().optional().describe('Also when work would be lost'),
})
export type DiscardWorktreeRequest = z.infer<typeof discardRequestSchema>
