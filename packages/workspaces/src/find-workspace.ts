import { AgentprotoError } from '@agentproto/contracts'
import type { StoredWorkspace, StoredWorkspaces } from './workspaces-file.js'

/** @throws `workspace_not_found`, naming the known ones */
export function findWorkspace(file: StoredWorkspaces, slug: string): StoredWorkspace {
  const workspace = file.workspaces.find((candidate) => candidate.slug === slug)
  if (workspace !== undefined) return workspace
  const slugs = file.workspaces.map((candidate) => candidate.slug)
  throw new AgentprotoError('workspace_not_found', `There is no workspace ${slug}.`, {
    expected: slugs.length === 0 ? 'a registered workspace; there is none' : `one of ${slugs.join(', ')}`,
    given: slug,
    hint: 'Run: agentproto workspace add <folder>',
    data: { known: slugs },
  })
}
