import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, defined, type Json } from '@agentproto/contracts'
import { homeLayout, type Launch, type RepositoryAccess } from '@agentproto/contracts/agent'
import type { SandboxProfile } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { ConfinedLaunch, HeldSandbox, Sandboxes } from '@agentproto/sandbox'
import { checkLaunch } from '@agentproto/subprocess'
import { agentHome } from './agent-home.js'
import type { AgentHost } from '../agent-host.js'
import { agentPrefix } from './locate-agent.js'

export interface Confining {
  readonly launch: Launch
  readonly adapter: LoadedAgentCli
  readonly host: AgentHost
  readonly additionalDirectories: readonly string[]
  readonly repository?: RepositoryAccess
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** A launch after its sandbox has changed it. */
export interface ConfinedAgent extends ConfinedLaunch {
  /** Whether the process is not confined, so that sessions may share it. */
  readonly plain: boolean
}

const BY_HOST = new WeakMap<AgentHost, Promise<Sandboxes>>()

/**
 * Confines a launch as its manifest's sandbox asks (AIP-36). Sandbox providers are loaded only when needed.
 * @throws `sandbox_unavailable`, `sandbox_read_only`, and of what is then hidden behind the confining program:
 * `cwd_invalid`, `agent_not_installed`, `spawn_failed`
 */
export async function confineAgent({ launch, adapter, host, ...confining }: Confining): Promise<ConfinedAgent> {
  const { sandbox: profile, manifest, directory } = adapter
  // Nothing of an agent behind a URL runs here.
  if (launch.command === '')
    return unconfined(launch, profile, 'the agent runs elsewhere, and what confines it there is not known')
  if (asksForNothing(profile, host)) return unconfined(launch, profile, 'the manifest asks for no confinement')
  checkLaunch(launch)
  const home = agentHome(manifest, host)
  const confined = await (
    await sandboxesOf(host)
  ).confine(profile, {
    launch,
    directories: confining.additionalDirectories,
    hidden: [host.home],
    readable: [agentPrefix(manifest, host)],
    writable: home === undefined ? [] : [home.path],
    clock: confining.clock,
    signal: confining.signal,
    ...defined({ repository: confining.repository }),
    ...defined({ manifestDirectory: directory || undefined, home: launch.env['HOME'] }),
    ...defined({ folder: sandboxFolder(host, launch.marker) }),
  })
  return { ...confined, release: () => confined.release(), plain: false }
}

export interface HoldingAgain {
  readonly sessionId: string
  readonly host: AgentHost
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Holds the sandbox of an agent that an earlier host has confined.
 * @param facts of its {@link ConfinedLaunch.kept}
 * @throws `sandbox_unavailable` when the agent must not go on; `timeout`, `cancelled`
 */
export async function holdSandboxAgain(
  facts: Json,
  { sessionId, host, clock, signal }: HoldingAgain,
): Promise<HeldSandbox> {
  const sandboxes = await sandboxesOf(host)
  return sandboxes.holdAgain(facts, { clock, signal, ...defined({ folder: sandboxFolder(host, sessionId) }) })
}

/** What a session's sandbox has there outlives its host. Absent without a home, and where the session's id is no name of a folder. */
function sandboxFolder({ home }: AgentHost, sessionId: string): string | undefined {
  const isName = /^\w[\w-]{0,99}$/.test(sessionId)
  return isName && existsSync(home) ? join(homeLayout(home).sandboxes, sessionId) : undefined
}

function asksForNothing(profile: SandboxProfile, { sandbox }: AgentHost): boolean {
  const { provider, limits, network, mounts, fs, exec, readOnly, config, tty, carried } = profile
  if (provider !== 'local' || Object.hasOwn(sandbox?.providers ?? {}, provider) || readOnly) return false
  const { identity, policy, lifecycle } = carried
  const blocks = [network, fs, exec, tty, identity, policy, lifecycle, ...mounts]
  return [...blocks, ...Object.keys({ ...limits, ...config })].every((block) => block === undefined)
}

const unconfined = (launch: Launch, { provider }: SandboxProfile, reason: string): ConfinedAgent => ({
  launch,
  sandbox: { provider, enforced: false, reason },
  warnings: [],
  plain: true,
  endsWithHost: undefined,
  release: async () => {},
})

/** One set for each host, so that the machine is examined once. */
function sandboxesOf(host: AgentHost): Promise<Sandboxes> {
  const known =
    BY_HOST.get(host) ?? import('@agentproto/sandbox').then((module) => module.createSandboxes(host.sandbox))
  BY_HOST.set(host, known)
  return known
}
