import { AgentprotoError } from '@agentproto/contracts'
import * as z from 'zod'

/** The format of `workspaces.json` (AIP-46). */

export const SLUG = /^[a-z0-9][a-z0-9-]*$/
export const SLUG_CHARS_MAX = 80

const slugSchema = z.string().max(SLUG_CHARS_MAX).regex(SLUG)

// Loose: a key that another version wrote is kept when we write.
const workspaceSchema = z.looseObject({
  slug: slugSchema,
  path: z.string().min(1),
  addedAt: z.string(),
  updatedAt: z.string(),
  label: z.string().exactOptional(),
})

export const workspacesSchema = z.looseObject({
  version: z.literal(1),
  active: slugSchema.exactOptional(),
  workspaces: z.array(workspaceSchema),
})

export type StoredWorkspaces = z.infer<typeof workspacesSchema>
export type StoredWorkspace = z.infer<typeof workspaceSchema>

/** @throws `workspace_not_found`, naming the known ones */
export function findWorkspace(file: StoredWorkspaces, slug: string): StoredWorkspace {
  const workspace = file.workspaces.find((candidate) => candidate.slug === slug)
  if (workspace !== undefined) return workspace
  const slugs = file.workspaces.map((candidate) => candidate.slug)
  throw new AgentprotoError('workspace_not_found', `There is no workspace ${slug}.`, {
    expected: slugs.length === 0 ? 'a registered workspace; there is none' : `one of ${slugs.join(', ')}`,
    given: slug,
    hint: 'List them with: agentproto workspace list',
    data: { known: slugs },
  })
}
