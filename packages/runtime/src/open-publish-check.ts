import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProvisionHost } from '@agentproto/provisioning'
import type {
  AgentCommandLine,
  PublishCheck,
  PublishFinding,
  PublishReport,
} from '@agentproto/provisioning/publish-check'
import { createRedactor } from '@agentproto/secrets'
import { openOfflineAudit } from '@agentproto/server'
import type { OpenAdaptersOptions } from './open-adapters.js'
import { openAgents } from './open-agents.js'
import { settingsOf } from './settings.js'

/** Whose agent is checked: that of an adapter of the home, or one that a command starts. */
export type PublishTarget = { readonly slug: string } | AgentCommandLine

export interface PublishOptions extends Pick<PublishCheck, 'prompts' | 'limits' | 'only'> {
  /**
   * Whether an agent that a command starts uses the user's home, in which it may be logged in. Default: an empty one. The agent of an
   * adapter uses the home that its sessions use.
   */
  readonly userHome?: boolean
  readonly signal: AbortSignal
}

/**
 * Checks an ACP agent as its users would meet it, one finding after the other. Starts it on this machine, and leaves nothing.
 * The iteration throws `adapter_not_found`, `agent_not_installed`, `protocol_unsupported`, `cancelled`.
 */
export async function* openPublishCheck(
  target: PublishTarget,
  { userHome = false, ...options }: PublishOptions,
  own: OpenAdaptersOptions = {},
): AsyncGenerator<PublishFinding, void, undefined> {
  const { publishCheck } = await import('@agentproto/provisioning/publish-check')
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-publish-')))
  try {
    const settings = await settingsOf(own)
    const { onProblem = () => undefined } = settings
    const audit = openOfflineAudit({ ...settings, onProblem })
    const agents = openAgents(settings, { redactor: createRedactor(), onProblem, audit })
    const examined =
      'slug' in target
        ? await agents.examined(target.slug)
        : await ofCommand(target, { folder, host: agents.host, userHome })
    yield* publishCheck({ ...options, ...examined })
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
  readonly folder: string
  readonly host: ProvisionHost
  readonly userHome: boolean
}

async function ofCommand(
  target: AgentCommandLine,
  { folder, host, userHome }: Place,
): Promise<Pick<PublishCheck, 'adapter' | 'host'>> {
  const { commandAdapter } = await import('@agentproto/provisioning/publish-check')
  const { adapter, executables } = await commandAdapter(target, folder, host)
  const homes = userHome ? 'operator' : 'isolated'
  const home = userHome ? host.home : join(folder, 'home')
  return { adapter, host: { ...host, executables, homes, home } }
}
