import type { RemoteEndpoint } from '@agentproto/acp'
import { type AgentInfo, AgentprotoError, defined, isAgentprotoError } from '@agentproto/contracts'
import type { AgentEnd, AgentSink } from '@agentproto/contracts/agent'
import type { AgentCliManifest, AgentEndpoint, Auth } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { Redactor, Secrets } from '@agentproto/secrets'
import { isSecretName } from '@agentproto/subprocess'
import type { AgentHost, SpawnProvision } from '../agent-host.js'
import { remoteEndpoint } from '../endpoint/remote-endpoint.js'
import { declaredSecrets, secretVariables } from './declared-secrets.js'
import { redactedError } from './redacted-error.js'
import { RedactingSink } from './redacting-sink.js'

export interface GuardedLaunch {
  readonly host: AgentHost
  readonly adapter: LoadedAgentCli
  readonly workspace?: string | undefined
  /** Variables that the caller gives to this session. */
  readonly env?: Readonly<Record<string, string>>
  /** See `SpawnGate.chosen`. */
  readonly chosen?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Makes the guard of a launch (AIP-45 §Setup surface, §Auth surface).
 * @throws `setup_required`, `auth_required`
 */
export async function guardLaunch(launch: GuardedLaunch): Promise<LaunchGuard> {
  const { host, adapter, workspace, chosen, signal } = launch
  const declared = await declaredSecrets(adapter)
  const { setup, auth } = adapter.manifest
  const isProvisioned = setup.length > 0 || (auth !== undefined && isWatched(auth))
  if (setup.length > 0 && host.provisioning === undefined) throw notProvisioned(adapter.manifest)
  if (!isProvisioned && declared.length === 0) return new LaunchGuard(launch, { redactor: host.redactor }, NOTHING)
  const store = await secretsOf(host)
  const { secrets, redactor } = store
  if (!isProvisioned || host.provisioning === undefined)
    return new LaunchGuard(launch, store, { env: await secretVariables({ secrets, declared }), warnings: [] })
  const gate = { adapter, host: { ...host, secrets, redactor }, declared, signal }
  const provided = await host.provisioning.beforeSpawn({ ...gate, ...defined({ workspace, chosen, env: launch.env }) })
  return new LaunchGuard(launch, store, provided)
}

/** The guard of an agent that an earlier host has launched: nothing is checked again, but its secrets are kept out again. */
export async function guardAdopted(launch: GuardedLaunch): Promise<LaunchGuard> {
  const { host, adapter } = launch
  const declared = await declaredSecrets(adapter)
  if (declared.length === 0) return new LaunchGuard(launch, { redactor: host.redactor }, NOTHING)
  const store = await secretsOf(host)
  const env = await secretVariables({ secrets: store.secrets, declared })
  return new LaunchGuard(launch, store, { env, warnings: [] })
}

/** Whether something can be known of a login before the agent is started. */
const isWatched = ({ login, refresh, expiry }: Auth): boolean =>
  refresh !== undefined || expiry !== undefined || login?.completesWhen !== undefined

const NOTHING: SpawnProvision = { env: {}, warnings: [] }

function notProvisioned({ id, name, setup }: AgentCliManifest): AgentprotoError {
  return new AgentprotoError(
    'setup_required',
    `${name} needs a setup, and this host does not know whether it is done`,
    {
      expected: 'a host with `provisioning`',
      hint: `Pass { provisioning: launchProvisioning } of @agentproto/provisioning/launch, and run: agentproto adapters setup ${id}`,
      data: { pending: setup.map((step) => ({ id: step.id, kind: step.kind, state: 'pending' })) },
    },
  )
}

interface SecretStore {
  readonly secrets?: Secrets
  readonly redactor?: Redactor | undefined
}

/** Those of the host, or new ones for this launch alone. */
async function secretsOf(host: AgentHost): Promise<{ readonly secrets: Secrets; readonly redactor: Redactor }> {
  if (host.secrets !== undefined && host.redactor !== undefined)
    return { secrets: host.secrets, redactor: host.redactor }
  const { createRedactor, createSecrets } = await import('@agentproto/secrets')
  const redactor = host.redactor ?? createRedactor()
  return { secrets: host.secrets ?? createSecrets({ home: host.home, env: host.env, redactor }), redactor }
}

/** The secrets of one launch: given to the agent, and kept out of what it says and of how it fails. */
export class LaunchGuard {
  /** Secrets and persisted values of the setup, by variable. */
  readonly env: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
  readonly #launch: GuardedLaunch
  readonly #redactor: Redactor | undefined
  readonly #secrets: Secrets | undefined

  constructor(launch: GuardedLaunch, { redactor, secrets }: SecretStore, { env, warnings }: SpawnProvision) {
    this.#launch = launch
    this.#redactor = redactor
    this.#secrets = secrets
    this.env = env
    this.warnings = warnings
  }

  /** Registers the confidential values of an agent's environment with the redactor. */
  learn(env: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(env)) {
      // The gateway's own token is redacted by its shape wherever it is written.
      if (isSecretName(name) && name !== 'AGENTPROTO_TOKEN') this.#redactor?.add(value)
    }
  }

  /** Where an agent is reached, with its secrets at each connect. */
  endpoint(endpoint: AgentEndpoint): RemoteEndpoint {
    return remoteEndpoint(endpoint, { ...this.#launch.host, secrets: this.#secrets })
  }

  sink(inner: AgentSink): AgentSink {
    return this.#redactor === undefined ? inner : new RedactingSink(inner, this.#redactor)
  }

  /** What an agent reports of itself, without secrets. */
  info(info: AgentInfo): AgentInfo {
    return this.#redactor?.redactData(info) ?? info
  }

  /** What an agent answers to a call, or how it refuses it, without secrets. */
  async answer<T>(answer: Promise<T>): Promise<T> {
    try {
      const given = await answer
      return this.#redactor?.redactData(given) ?? given
    } catch (thrown) {
      throw isAgentprotoError(thrown) ? redactedError(thrown, this.#redactor) : thrown
    }
  }

  /** Records an expired login, and removes secrets from the report. */
  async end(end: AgentEnd): Promise<AgentEnd> {
    if (this.#isExpiry(end.exitCode)) await this.#reportExpiry()
    return this.#redactor?.redactData(end) ?? end
  }

  /** A failure of the launch without secrets; `auth_required` where its exit code means an expired login. */
  async failure(thrown: unknown): Promise<unknown> {
    if (!isAgentprotoError(thrown)) return thrown
    const { manifest } = this.#launch.adapter
    const failed = withLogin(
      this.#isExpiry(thrown.parts.data?.['exitCode']) ? await this.#expired(thrown) : thrown,
      manifest,
    )
    return redactedError(failed, this.#redactor)
  }

  #isExpiry(exitCode: unknown): boolean {
    const { expiry } = this.#launch.adapter.manifest.auth ?? {}
    return expiry !== undefined && exitCode === expiry.exitCode
  }

  async #expired(cause: AgentprotoError): Promise<AgentprotoError> {
    await this.#reportExpiry()
    const { name } = this.#launch.adapter.manifest
    return new AgentprotoError('auth_required', `The login of ${name} has ended`, {
      cause,
      data: cause.parts.data ?? {},
    })
  }

  async #reportExpiry(): Promise<void> {
    const { host, adapter } = this.#launch
    // A failure to record it must not hide how the agent ended.
    await host.provisioning?.loginExpired(adapter.manifest.id, host).catch(() => undefined)
  }
}

/** The manifest has the login command; the agent only names its methods. */
function withLogin(error: AgentprotoError, manifest: AgentCliManifest): AgentprotoError {
  const login = manifest.auth?.login?.cmd
  if (error.code !== 'auth_required' || login === undefined) return error
  const { data = {} } = error.parts
  return new AgentprotoError('auth_required', `${manifest.name} is not logged in`, {
    hint: `Log in: ${login}`,
    data: { ...data, login },
    cause: error,
  })
}
