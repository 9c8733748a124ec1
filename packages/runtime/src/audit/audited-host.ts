import type { AdapterService, WorkspaceService } from '@agentproto/contracts'
import { overridden } from '../agents/overridden.js'
import { type Log, noted, notedAll } from './noted.js'

/** Workspaces that write down who changed which. */
export function auditedWorkspaces(workspaces: WorkspaceService, log: Log): WorkspaceService {
  return overridden(workspaces, {
    add: (request, by) => {
      const { path, slug: workspace, use } = request
      const about = { workspace, path, use }
      return noted(log, { action: 'workspace-add', by, about }, () => workspaces.add(request, by))
    },
    remove: (workspace, by) =>
      noted(log, { action: 'workspace-remove', by, about: { workspace } }, () => workspaces.remove(workspace, by)),
    use: (workspace, by) =>
      noted(log, { action: 'workspace-use', by, about: { workspace } }, () => workspaces.use(workspace, by)),
  })
}

/** The same of adapters. What a person answered to a setup is in no line. */
export function auditedAdapters(adapters: AdapterService, log: Log): AdapterService {
  return overridden(adapters, {
    add: (source, by) => noted(log, { action: 'adapter-add', by, about: { source } }, () => adapters.add(source, by)),
    provision: (adapter, request, by) => {
      const { until, force, allowUnverified, workspaceSlug: workspace } = request
      const about = { adapter, force, allowUnverified, workspace }
      return notedAll(log, { action: `adapter-${until}`, by, about }, () => adapters.provision(adapter, request, by))
    },
    doctor: (adapter, request, by) => {
      const about = { adapter, live: request.live }
      return notedAll(log, { action: 'adapter-doctor', by, about }, () => adapters.doctor(adapter, request, by))
    },
  })
}
