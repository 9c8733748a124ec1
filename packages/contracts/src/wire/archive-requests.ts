import * as z from 'zod'

/** Bounds of searches and imports. */
export const ARCHIVE_BOUNDS = {
  /** An import, in characters. */
  importChars: 256 * 1024 * 1024,
  /** One event of an import, or a whole import as one JSON document. */
  importLineChars: 64 * 1024 * 1024,
  /** Lost events of an import. */
  importGoneEvents: 10_000,
  searchHits: 200,
  /** Sessions that a search lists as partly unreadable. */
  searchUnreadable: 100,
  searchChars: 200,
} as const

export const searchQuerySchema = z.strictObject({
  q: z.string().min(1).max(ARCHIVE_BOUNDS.searchChars).describe('Text to look for; case does not matter'),
  limit: z.coerce.number().int().min(1).max(ARCHIVE_BOUNDS.searchHits).optional(),
  adapter: z.string().optional(),
  workspace: z.string().optional(),
  after: z.string().optional().describe('nextCursor of the previous page'),
})
export type SearchQuery = z.infer<typeof searchQuerySchema>

export const pruneRequestSchema = z.strictObject({
  olderThanMs: z.int().min(0).describe('Sessions that ended longer ago than this, in milliseconds'),
  dryRun: z.boolean().optional().describe('Only list them'),
})
export type PruneRequest = z.infer<typeof pruneRequestSchema>

export const repairQuerySchema = z.strictObject({ dryRun: z.stringbool().optional() })
export const exportQuerySchema = z.strictObject({ format: z.enum(['md', 'json', 'jsonl']).optional() })
export const transcriptQuerySchema = z.strictObject({ format: z.enum(['json', 'markdown']).optional() })
export type ExportFormat = 'md' | 'json' | 'jsonl' | 'transcript'
