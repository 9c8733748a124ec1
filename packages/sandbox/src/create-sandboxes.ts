import { AgentprotoError, asRecord, asString, defined, type Json, type SessionSandbox } from '@agentproto/contracts'
import { requiresConfinement, createLocalProvider } from './local-provider.js'
import { createNodePermissionProvider } from './node-permission-provider.js'
import { limitLaunch } from './process-limits.js'
import { loadProvider, type RegisteredProvider } from './registered-provider.js'
import { withUnreadBlocks } from './unread-blocks.js'
import type {
  ConfinementProfile,
  HeldSandbox,
  HoldRequest,
  PreparedLaunch,
  SandboxProvider,
  SandboxRequest,
} from './sandbox-provider.js'

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
  /** Why the agent must end with this host; undefined where it need not. */
  readonly endsWithHost: string | undefined
  release(): Promise<void>
}

export interface Sandboxes {
  /**
   * Confines a launch as its profile requires (AIP-36).
   * @throws `sandbox_read_only` when the profile permits no command; `sandbox_unavailable` when its provider
   * is missing, or cannot enforce the profile and the host's policy is `refuse`; `cancelled`
   */
  confine(profile: ConfinementProfile, request: SandboxRequest): Promise<ConfinedLaunch>
  /**
   * Holds the sandbox of an agent that an earlier host has confined.
   * @param facts of its {@link ConfinedLaunch.kept}
   * @throws `sandbox_unavailable` when the agent must not go on; `timeout`, `cancelled`
   */
  holdAgain(facts: Json, request: HoldRequest): Promise<HeldSandbox>
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
    const prepared = isPlain ? unconfined(request) : await inTime(provider.prepare(profile, request), request)
    const whole = Object.values(builtIn).includes(provider) ? withUnreadBlocks(profile, prepared) : prepared
    const isRequired = !isPlain || whole.reason !== undefined
    const isKept = prepared.release === undefined || (prepared.kept !== undefined && provider.holdAgain !== undefined)
    return { ...whole, isRequired, isKept, ...(isRequired ? {} : { reason: 'the manifest asks for no confinement' }) }
  }

  async function confine(profile: ConfinementProfile, request: SandboxRequest): Promise<ConfinedLaunch> {
    const { provider: name } = profile
    if (profile.readOnly) throw readOnly(name)
    const prepared = await prepare(profile, request)
    const { launch, enforced, reason, warnings, isRequired, isKept, kept, release = async () => {} } = prepared
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
      endsWithHost: isKept ? undefined : `its sandbox (${name}) is held by the gateway`,
      release,
      ...(isKept && kept && { kept: { facts: { provider: name, facts: kept.facts }, leave: () => kept.leave() } }),
    }
  }

  async function holdAgain(stored: Json, request: HoldRequest): Promise<HeldSandbox> {
    const { provider: name, facts } = asRecord(stored)
    const provider = await providerOf(asString(name) ?? '')
    if (provider.holdAgain === undefined) throw notHeld(asString(name))
    return withTimeLimit(provider.holdAgain(asRecord(facts), request), request, (late) => late.leave())
  }

  return { confine, holdAgain }
}

interface Prepared extends PreparedLaunch {
  /** Whether the profile asks for anything. */
  readonly isRequired: boolean
  /** Whether the sandbox need not end with this host. */
  readonly isKept: boolean
}

const unconfined = ({ launch }: SandboxRequest): PreparedLaunch => ({
  launch,
  enforced: false,
  warnings: [],
})

const inTime = (preparing: Promise<PreparedLaunch>, request: SandboxRequest): Promise<PreparedLaunch> =>
  withTimeLimit(preparing, request, (late) => late.release?.())

/** @param giveBack what is ready too late: no session owns it */
function withTimeLimit<T>(
  preparing: Promise<T>,
  { clock, signal }: HoldRequest,
  giveBack: (late: T) => Promise<void> | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = (thrown: AgentprotoError): void => {
      reject(thrown)
      void preparing.then(giveBack).catch(() => {})
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

const notHeld = (provider: string | undefined): AgentprotoError =>
  new AgentprotoError('sandbox_unavailable', 'Only the host that prepared the sandbox could hold it', {
    expected: 'a sandbox provider with a function `holdAgain`',
    given: provider,
  })
