import { AgentprotoError, defined, type SessionSandbox } from '@agentproto/contracts'
import { requiresConfinement, createLocalProvider } from './local-provider.js'
import { createNodePermissionProvider } from './node-permission-provider.js'
import { limitLaunch } from './process-limits.js'
import { loadProvider, type RegisteredProvider } from './registered-provider.js'
import { withUnreadBlocks } from './unread-blocks.js'
import type { ConfinementProfile, PreparedLaunch, SandboxProvider, SandboxRequest } from './sandbox-provider.js'

/** Time limit of a provider that the host registered, in milliseconds. */
const PREPARE_MS = 60_000

export interface SandboxesOptions {
  /** Additional providers by name. They may replace `local` and `node-permission`. */
  readonly providers?: Readonly<Record<string, RegisteredProvider>>
  /** What to do with an agent that cannot be confined here. Default `warn`: it runs, and the session has a warning. */
  readonly whenUnavailable?: 'warn' | 'refuse'
  /** Names of the gateway beside those of this machine, each with or without a port: `*.` in `network.egress` never means them. */
  readonly ownNames?: readonly string[]
}

/** A launch that may be started, and what the session reports about it. */
export interface ConfinedLaunch extends Omit<PreparedLaunch, 'enforced' | 'reason'> {
  readonly sandbox: SessionSandbox
  /** Whether the agent needs something that this host holds: what {@link release} frees. */
  readonly isHeld: boolean
  release(): Promise<void>
}

export interface Sandboxes {
  /**
   * Confines a launch as its profile requires (AIP-36).
   * @throws `sandbox_read_only` when the profile permits no command; `sandbox_unavailable` when its provider
   * is missing, or cannot enforce the profile and the host's policy is `refuse`; `cancelled`
   */
  confine(profile: ConfinementProfile, request: SandboxRequest): Promise<ConfinedLaunch>
}

/** The sandbox providers of one host. */
export function createSandboxes(options: SandboxesOptions = {}): Sandboxes {
  const { providers = {}, whenUnavailable = 'warn', ownNames = [] } = options
  const builtIn: Readonly<Record<string, SandboxProvider>> = {
    local: createLocalProvider(ownNames),
    'node-permission': createNodePermissionProvider(),
  }

  async function providerOf(name: string): Promise<SandboxProvider> {
    if (Object.hasOwn(providers, name)) return loadProvider(name, providers[name] ?? '')
    const found = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined
    if (found !== undefined) return found
    throw new AgentprotoError('sandbox_unavailable', `This host has no sandbox provider ${name}`, {
      expected: `one of ${[...Object.keys(builtIn), ...Object.keys(providers)].join(', ')}`,
      given: name,
      hint: 'Remote providers are modules that the host registers by name (`sandboxProviders`).',
    })
  }

  async function prepare(profile: ConfinementProfile, request: SandboxRequest): Promise<Prepared> {
    const provider = await providerOf(profile.provider)
    const isPlain = provider === builtIn['local'] && !requiresConfinement(profile)
    const prepared = isPlain ? unconfined(request) : await withTimeLimit(provider.prepare(profile, request), request)
    const whole = Object.values(builtIn).includes(provider) ? withUnreadBlocks(profile, prepared) : prepared
    const isRequired = !isPlain || whole.reason !== undefined
    return { ...whole, isRequired, ...(isRequired ? {} : { reason: 'the manifest asks for no confinement' }) }
  }

  async function confine(profile: ConfinementProfile, request: SandboxRequest): Promise<ConfinedLaunch> {
    const { provider: name } = profile
    if (profile.readOnly) throw readOnly(name)
    const prepared = await prepare(profile, request)
    const { launch, enforced, reason, warnings, isRequired, release = async () => {} } = prepared
    const isMissed = isRequired && !enforced
    if (isMissed && whenUnavailable === 'refuse') {
      await release()
      throw unavailable(name, reason)
    }
    const limited = await limitLaunch(launch, profile.limits)
    return {
      launch: limited.launch,
      sandbox: { provider: name, enforced, ...defined({ reason }) },
      warnings: [
        ...(isMissed ? [`Not confined as required: ${reason ?? 'unknown'}`] : []),
        ...warnings,
        ...limited.warnings,
      ],
      isHeld: prepared.release !== undefined,
      release,
    }
  }

  return { confine }
}

interface Prepared extends PreparedLaunch {
  /** Whether the profile asks for anything. */
  readonly isRequired: boolean
}

const unconfined = ({ launch }: SandboxRequest): PreparedLaunch => ({
  launch,
  enforced: false,
  warnings: [],
})

function withTimeLimit(preparing: Promise<PreparedLaunch>, { clock, signal }: SandboxRequest): Promise<PreparedLaunch> {
  return new Promise((resolve, reject) => {
    const abandon = (thrown: AgentprotoError): void => {
      reject(thrown)
      // Release what is prepared too late: no session owns it.
      void preparing.then((prepared) => prepared.release?.()).catch(() => {})
    }
    const timeout = new AgentprotoError('timeout', 'The sandbox was not ready in time', {
      expected: `${PREPARE_MS} ms`,
    })
    const timer = clock.after(PREPARE_MS, () => abandon(timeout))
    const abort = (): void => abandon(new AgentprotoError('cancelled', 'The start of the agent was cancelled'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    void preparing.then(resolve, reject).finally(() => {
      timer.cancel()
      signal.removeEventListener('abort', abort)
    })
  })
}

const readOnly = (provider: string): AgentprotoError =>
  new AgentprotoError('sandbox_read_only', 'The sandbox is read-only: it permits no command', {
    expected: 'a sandbox profile without `read_only: true`',
    given: provider,
  })

const unavailable = (provider: string, reason = 'it gave no reason'): AgentprotoError =>
  new AgentprotoError('sandbox_unavailable', `The sandbox ${provider} cannot be enforced here: ${reason}`, {
    hint: 'Make it available (Debian: apt-get install bubblewrap), or set `sandbox` to `warn` in the configuration.',
  })
