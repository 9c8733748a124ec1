import { AgentprotoError } from '@agentproto/contracts'
import type { SessionSandbox } from '@agentproto/contracts'
import { asksForConfinement, createLocalProvider } from './local-provider.js'
import { createNodePermissionProvider } from './node-permission-provider.js'
import { limitLaunch } from './process-limits.js'
import { loadProvider } from './registered-provider.js'
import type { RegisteredProvider } from './registered-provider.js'
import type { ConfinementProfile, PreparedLaunch, SandboxProvider, SandboxRequest } from './sandbox-provider.js'

/** Before a host-registered provider is given up, in milliseconds. */
const PREPARE_MS = 60_000

export interface SandboxesOptions {
  /** Providers by name, beside `local` and `node-permission`, which they may replace. */
  readonly providers?: Readonly<Record<string, RegisteredProvider>>
  /** What becomes of an agent whose confinement does not hold here. Default `warn`: it runs, and the session says so. */
  readonly whenUnavailable?: 'warn' | 'refuse'
}

/** A launch as it may be started, and what is to be said of it. */
export interface ConfinedLaunch extends Omit<PreparedLaunch, 'enforced' | 'reason'> {
  readonly sandbox: SessionSandbox
  release(): Promise<void>
}

export interface Sandboxes {
  /**
   * Confines a launch as its profile asks (AIP-36).
   * @throws `sandbox_read_only` when the profile forbids to run anything; `sandbox_unavailable` when its provider
   * is not here, or cannot hold it and the host says `refuse`; `cancelled`
   */
  confine(profile: ConfinementProfile, request: SandboxRequest): Promise<ConfinedLaunch>
}

/** The sandbox providers of one host. */
export function createSandboxes({ providers = {}, whenUnavailable = 'warn' }: SandboxesOptions = {}): Sandboxes {
  const builtIn: Readonly<Record<string, SandboxProvider>> = {
    local: createLocalProvider(),
    'node-permission': createNodePermissionProvider(),
  }

  async function providerOf(name: string): Promise<SandboxProvider> {
    if (Object.hasOwn(providers, name)) return loadProvider(name, providers[name] ?? '')
    const found = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined
    if (found !== undefined) return found
    throw new AgentprotoError('sandbox_unavailable', `There is no sandbox provider ${name} on this host`, {
      expected: `one of ${[...Object.keys(builtIn), ...Object.keys(providers)].join(', ')}`,
      given: name,
      hint: 'Remote providers are modules that the host registers by name (`sandboxProviders`).',
    })
  }

  async function confine(profile: ConfinementProfile, request: SandboxRequest): Promise<ConfinedLaunch> {
    const { provider: name } = profile
    if (profile.readOnly) throw readOnly(name)
    const provider = await providerOf(name)
    const asked = provider !== builtIn['local'] || asksForConfinement(profile)
    const prepared = asked ? await inTime(provider.prepare(profile, request), request) : unconfined(request)
    const { enforced, reason, warnings, release = async () => {} } = prepared
    if (asked && !enforced && whenUnavailable === 'refuse') {
      await release()
      throw unavailable(name, reason)
    }
    const limited = await limitLaunch(prepared.launch, profile.limits)
    return {
      launch: limited.launch,
      sandbox: { provider: name, enforced, ...(reason === undefined ? {} : { reason }) },
      warnings: [
        ...(asked && !enforced ? [`Not confined as asked: ${reason ?? 'unknown'}`] : []),
        ...warnings,
        ...limited.warnings,
      ],
      release,
    }
  }

  return { confine }
}

const unconfined = ({ launch }: SandboxRequest): PreparedLaunch => ({
  launch,
  enforced: false,
  reason: 'the manifest asks for no confinement',
  warnings: [],
})

function inTime(preparing: Promise<PreparedLaunch>, { clock, signal }: SandboxRequest): Promise<PreparedLaunch> {
  return new Promise((resolve, reject) => {
    const late = (thrown: AgentprotoError): void => {
      reject(thrown)
      // What is prepared after all is nobody's.
      void preparing.then((prepared) => prepared.release?.()).catch(() => {})
    }
    const timeout = new AgentprotoError('timeout', 'The sandbox was not ready in time', {
      expected: `${PREPARE_MS} ms`,
    })
    const timer = clock.after(PREPARE_MS, () => late(timeout))
    const abort = (): void => late(new AgentprotoError('cancelled', 'The start of the agent was cancelled'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void preparing.then(resolve, reject).finally(() => {
      timer.cancel()
      signal.removeEventListener('abort', abort)
    })
  })
}

const readOnly = (provider: string): AgentprotoError =>
  new AgentprotoError('sandbox_read_only', 'The sandbox is read-only: no command may run in it', {
    expected: 'a sandbox profile without `read_only: true`',
    given: provider,
  })

const unavailable = (provider: string, reason = 'it does not say why'): AgentprotoError =>
  new AgentprotoError('sandbox_unavailable', `The sandbox ${provider} does not hold here: ${reason}`, {
    hint: 'Make it available (Debian: apt-get install bubblewrap), or let the host only warn.',
  })
