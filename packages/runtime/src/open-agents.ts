import type { AdapterService, StartAgent, WorkspaceService } from '@agentproto/contracts'
import { launchAgent } from '@agentproto/driver-agent-cli'
import { HostAdapters, openCatalog } from '@agentproto/provisioning/catalog'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import type { Observers } from './observe.js'
import type { Settings } from './settings.js'
import { agentHost } from './agent-host.js'

/** The agents of a host, and the folders that they work in. */
export interface Agents {
  readonly workspaces: WorkspaceService
  readonly adapters: AdapterService
  readonly startAgent: StartAgent
}

export function openAgents(settings: Settings, { redactor, onProblem, audit }: Observers): Agents {
  const { clock, layout, address, cwd: defaultCwd = process.cwd(), serve = {} } = settings
  const { root: home } = layout
  const host = agentHost(settings, { home, clock, redactor, onProblem, url: () => address.url })
  const workspaces = createWorkspaces({ home, clock, defaultCwd, onWarning: onProblem })
  const trust = createWorkspaceTrust({ home, clock, onWarning: onProblem })
  const catalog = openCatalog({ ...settings, userAdapters: layout.adapters, host, workspaces, trust, onProblem })
  return {
    workspaces: audit.wrap('workspaces', workspaces),
    adapters: audit.wrap('adapters', new HostAdapters(catalog, host)),
    async startAgent(start, sink) {
      const adapter = await catalog.adapter(start.adapterSlug)
      const { manifest, sandbox } = adapter
      return launchAgent(manifest, { ...start, sink, host, sandbox, adapter, serve })
    },
  }
}
