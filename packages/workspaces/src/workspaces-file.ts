import * as z from 'zod'

/** The format of `workspaces.json` (AIP-46). */

export const SLUG = /^[a-z0-9][a-z0-9-]*$/
export const SLUG_CHARS_MAX = 80

const slug = z.string().max(SLUG_CHARS_MAX).regex(SLUG)

// Loose: a key that another version wrote is kept when we write.
const workspaceSchema = z.looseObject({
  slug,
  path: z.string().min(1),
  addedAt: z.string(),
  updatedAt: z.string(),
  label: z.string().exactOptional(),
})

export const workspacesSchema = z.looseObject({
  version: z.literal(1),
  active: slug.exactOptional(),
  workspaces: z.array(workspaceSchema),
})

export type StoredWorkspaces = z.infer<typeof workspacesSchema>
export type StoredWorkspace = z.infer<typeof workspaceSchema>
