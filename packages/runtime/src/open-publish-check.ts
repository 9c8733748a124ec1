import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import type {
  AgentCommandLine,
  EntryTarget,
  PublishCheck,
  PublishFinding,
  PublishReport,
} from '@agentproto/provisioning/publish-check'
import { createRedactor } from '@agentproto/secrets'
import { openOfflineAudit } from '@agentproto/server'
import type { OpenAdaptersOptions } from './open-adapters.js'
import { type Agents, openAgents } from './open-agents.js'
import { type Settings, settingsOf } from './settings.js'

/** Whose agent is checked: that of an adapter of the home, one that a command starts, or one of an entry. */
export type PublishTarget = { readonly slug: string } | AgentCommandLine | { readonly entry: EntryTarget }

export interface PublishOptions extends Pick<PublishCheck, 'prompts' | 'limits' | 'only'> {
  /**
   * Whether the agent of a command or of an entry uses the user's home, in which it may be logged in. Default: an empty one. The agent
   * of an adapter uses the home that its sessions use.
   */
  readonly userHome?: boolean
  readonly signal: AbortSignal
}

/**
 * Checks an ACP agent as its users would meet it, one finding after the other: on this machine, and nothing of it stays.
 * The iteration throws `adapter_not_found`, `agent_not_installed`, `protocol_unsupported`, `cancelled`; for an entry
 * `invalid_request`, `path_invalid`, `registry_unavailable`.
 */
export async function* openPublishCheck(
  target: PublishTarget,
  options: PublishOptions,
  own: OpenAdaptersOptions = {},
): AsyncGenerator<PublishFinding, void, undefined> {
  const parts = await import('@agentproto/provisioning/publish-check')
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-publish-')))
  const { userHome = false, ...check } = options
  const place: Place = { folder, userHome, settings: await settingsOf(own), signal: options.signal }
  try {
    const subject =
      'slug' in target
        ? await agentsOf(place.settings).examined(target.slug)
        : 'entry' in target
          ? yield* ofEntry(target.entry, place)
          : await ofCommand(target, place)
    if (subject !== undefined) yield* parts.publishCheck({ ...check, ...subject })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Sums up the findings of an agent. @param name for one that gives itself none */
export async function publishReportOf(name: string, findings: readonly PublishFinding[]): Promise<PublishReport> {
  const { publishReport } = await import('@agentproto/provisioning/publish-check')
  return publishReport(name, findings)
}

interface Place {
  /** Empty, and gone afterwards. */
  readonly folder: string
  readonly userHome: boolean
  readonly settings: Settings
  readonly signal: AbortSignal
}

type Subject = Pick<PublishCheck, 'adapter' | 'host' | 'observed'>

function agentsOf(settings: Settings): Agents {
  const { onProblem = () => undefined } = settings
  const audit = openOfflineAudit({ ...settings, onProblem })
  return openAgents(settings, { redactor: createRedactor(), onProblem, audit })
}

/** The agent is installed in an empty home, which has no other adapters. */
async function* ofEntry(
  entry: EntryTarget,
  { folder, settings, userHome, signal }: Place,
): AsyncGenerator<PublishFinding, Subject | undefined, undefined> {
  const { entryFindings } = await import('@agentproto/provisioning/publish-check')
  const homes = userHome ? 'operator' : 'isolated'
  const layout = homeLayout(join(folder, 'home'))
  await mkdir(layout.root, { mode: 0o700 })
  const agents = agentsOf({ ...settings, homes, layout, adapters: [], bundledAdapters: false })
  const installed = yield* entryFindings(entry, { adapters: agents.adapters, signal })
  if (installed === undefined) return undefined
  const { slug, ...observed } = installed
  return { ...(await agents.examined(slug)), ...observed }
}

async function ofCommand(target: AgentCommandLine, { folder, settings, userHome }: Place): Promise<Subject> {
  const { commandAdapter } = await import('@agentproto/provisioning/publish-check')
  const { host } = agentsOf(settings)
  const { adapter, executables } = await commandAdapter(target, folder, host)
  const own = userHome ? { homes: 'operator' as const } : { homes: 'isolated' as const, home: join(folder, 'home') }
  return { adapter, host: { ...host, executables, ...own } }
}
