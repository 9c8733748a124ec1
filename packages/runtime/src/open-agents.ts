import type { AdoptAgent, AgentSink, StartAgent, StartAgentOptions } from '@agentproto/contracts/agent'
import type { Services, SessionService } from '@agentproto/contracts/wire'
import { adoptAgent, launchAgent, SharedProcesses } from '@agentproto/driver-agent-cli'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { ProvisionHost } from '@agentproto/provisioning'
import { hostAdapters, type LiveSessions, openCatalog, removeLeft } from '@agentproto/provisioning/catalog'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import { agentHost, type AgentParts } from './agent-host.js'
import type { Settings } from './settings.js'

/** The agents of a host, and the folders that they work in. */
export interface Agents extends Pick<Services, 'workspaces' | 'adapters'> {
  readonly startAgent: StartAgent
  /** Absent where agents end with the gateway. */
  readonly adoptAgent?: AdoptAgent
  /** The host as agents and installers see it. */
  readonly host: ProvisionHost
  /** The agent of an adapter, for an examination. @throws `adapter_not_found`, `manifest_invalid` */
  readonly examined: (slug: string) => Promise<{ readonly adapter: LoadedAgentCli; readonly host: ProvisionHost }>
  /** The processes that several sessions share. */
  readonly sharedProcesses: Pick<SharedProcesses, 'begin' | 'holds'>
  /** Whether the owner trusts a folder, by its real path. */
  readonly isTrusted: (folder: string) => Promise<boolean>
  /** Removes what a process left that was killed while it added or installed an agent. Never rejects. */
  readonly removeLeft: () => Promise<void>
  /** Says which sessions there are: an adapter that one of them runs is not removed. */
  readonly watch: (sessions: Pick<SessionService, 'list'>) => void
}

export function openAgents(settings: Settings, parts: AgentParts): Agents {
  const { onProblem, audit } = parts
  const { clock, layout, cwd: defaultCwd = process.cwd(), serve = {} } = settings
  const { root: home } = layout
  const sharedProcesses = new SharedProcesses()
  const host = { ...agentHost(settings, parts), sharedProcesses }
  const workspaces = createWorkspaces({ home, clock, defaultCwd, onWarning: onProblem })
  const trust = createWorkspaceTrust({ home, clock, onWarning: onProblem })
  const catalog = openCatalog({ ...settings, userAdapters: layout.adapters, host, workspaces, trust, onProblem })
  let sessions: Pick<SessionService, 'list'> | undefined
  const liveSessions: LiveSessions = async (adapter) => {
    const page = await sessions?.list({ adapter, onlyAlive: true })
    return page?.sessions.map(({ id }) => id) ?? []
  }
  const launchOptions = async <Start extends StartAgentOptions>(start: Start, sink: AgentSink) => {
    const adapter = await catalog.adapter(start.adapterSlug)
    const { manifest, sandbox } = adapter
    return { manifest, ...start, sink, host, sandbox, adapter, serve }
  }
  // Loaded when it is first used: most gateways never read it.
  const openRegistry = async () =>
    (await import('@agentproto/acp-registry')).openRegistry({ ...settings.registry, home, clock })
  return {
    workspaces: audit.wrap('workspaces', workspaces),
    adapters: audit.wrap('adapters', hostAdapters(catalog, host, { liveSessions, openRegistry })),
    host,
    examined: async (slug) => ({ adapter: await catalog.adapter(slug), host }),
    isTrusted: async (folder) => (await trust.list()).some(({ path }) => path === folder),
    sharedProcesses,
    removeLeft: () => removeLeft(host),
    watch: (service) => void (sessions = service),
    startAgent: async (start, sink) => {
      const { manifest, ...options } = await launchOptions(start, sink)
      return launchAgent(manifest, options)
    },
    ...(parts.keeper !== undefined && {
      adoptAgent: async (start, sink) => {
        const { manifest, ...options } = await launchOptions(start, sink)
        return adoptAgent(manifest, options)
      },
    }),
  }
}
