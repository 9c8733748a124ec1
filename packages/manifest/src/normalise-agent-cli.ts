import { defined } from '@agentproto/contracts'
import type {
  AgentCliDocument,
  AuthDocument,
  InstallMethodDocument,
  OptionDocument,
  SetupStepDocument,
} from './agent-cli-document.js'
import {
  type AgentCliManifest,
  type Auth,
  INSTALL_METHODS,
  type InstallMethod,
  type InstallMethodName,
  OWN_METHODS,
  type Option,
  type PackageManager,
  type SetupStep,
} from './agent-cli-manifest.js'
import { normaliseWire } from './agent-cli-wire.js'
import { camelKeys } from './camel-keys.js'
import { normaliseRunner, withRunnerLimits } from './runner-profile.js'
import { normaliseSandbox } from './sandbox-profile.js'

/**
 * Turns a document that passed the schema and the rules into the manifest that programs use: camel case, and
 * defaults filled in.
 */
export function normaliseAgentCli(document: AgentCliDocument): AgentCliManifest {
  const { name, id, description, version, bin, sandbox, auth, continuation } = document
  const runner = runnerSource(document.runner)
  return {
    name,
    id,
    description,
    version,
    bin,
    binArgs: document.bin_args ?? [],
    install: document.install.map(normaliseInstall),
    versionCheck: { timeoutMs: 5_000, ...camelKeys(document.version_check) },
    requires: camelKeys(document.requires ?? {}),
    setup: (document.setup ?? []).map(normaliseSetupStep),
    ...defined({ auth: auth && normaliseAuth(auth) }),
    sandbox: sandboxSource(sandbox, runner),
    ...defined({ runner }),
    session: { mode: 'ephemeral', contextCarryover: true, ...camelKeys(document.session ?? {}) },
    capabilities: { ...NO_CAPABILITIES, ...camelKeys(document.capabilities ?? {}) },
    ...normaliseChoices(document),
    ...defined({ continuation: continuation && normaliseContinuation(continuation) }),
    examples: document.examples ?? [],
    tags: document.tags ?? [],
    metadata: document.metadata ?? {},
    ...normaliseWire(document),
  }
}

type Source<K extends 'sandbox' | 'runner'> = AgentCliManifest[K]

function runnerSource(runner: AgentCliDocument['runner']): Source<'runner'> {
  if (typeof runner === 'string') return { from: 'file', path: runner }
  return runner && { from: 'inline', profile: normaliseRunner(runner) }
}

function sandboxSource(sandbox: AgentCliDocument['sandbox'], runner: Source<'runner'>): Source<'sandbox'> {
  if (typeof sandbox === 'string') return { from: 'file', path: sandbox }
  const profile = normaliseSandbox(sandbox)
  return { from: 'inline', profile: runner?.from === 'inline' ? withRunnerLimits(profile, runner.profile) : profile }
}

const NO_CAPABILITIES = {
  streaming: false,
  toolCalls: false,
  subAgents: false,
  fileIo: false,
  multimodal: false,
  resumable: false,
  bidirectional: false,
}

/** Defaults of each method. A new method must be added here. */
const INSTALL_DEFAULTS: Readonly<Record<Exclude<InstallMethodName, PackageManager>, object>> = {
  npm: { global: false },
  pip: { user: false },
  uv: {},
  curl: {},
  download: {},
  vendored: {},
}

function normaliseInstall(document: InstallMethodDocument): InstallMethod {
  const { method, experimental = false } = document
  if (!([...INSTALL_METHODS, ...OWN_METHODS] as readonly string[]).includes(method))
    return { method: 'unknown', experimental, name: method }
  const defaults = Object.hasOwn(INSTALL_DEFAULTS, method)
    ? INSTALL_DEFAULTS[method as keyof typeof INSTALL_DEFAULTS]
    : {}
  // The schema has refused keys of other methods.
  return { experimental, ...defaults, ...camelKeys(document) } as InstallMethod
}

function normaliseAuth({ ref, state, login, refresh, expiry }: AuthDocument): Auth {
  return defined({
    ref,
    state: { paths: [], env: [], ...state },
    login: login && normaliseLogin(login),
    refresh,
    expiry: expiry && { exitCode: Number(expiry.detect.slice('exit_code:'.length)) },
  })
}

function normaliseLogin({
  completes_when: done,
  ...login
}: NonNullable<AuthDocument['login']>): NonNullable<Auth['login']> {
  const completesWhen = done && { exitCode: 0, ...camelKeys(done) }
  return { interactive: false, requiresCallbackUrl: false, ...camelKeys(login), ...defined({ completesWhen }) }
}

/** What a caller may choose for a session. */
const normaliseChoices = ({
  models,
  modes = [],
  options = [],
}: AgentCliDocument): Pick<AgentCliManifest, 'models' | 'modes' | 'options'> => ({
  models: { env: {}, ...models },
  modes: modes.map((mode) => ({ binArgsAppend: [], env: {}, ...camelKeys(mode) })),
  options: options.map(normaliseOption),
})

function normaliseOption(option: OptionDocument): Option {
  const flags = option.type === 'boolean' ? { binArgsAppendWhenTrue: [] } : {}
  // The rules have refused keys and defaults of other types.
  return { binArgsTemplate: [], env: {}, ...flags, ...camelKeys(option) } as Option
}

const normaliseContinuation = (
  continuation: NonNullable<AgentCliDocument['continuation']>,
): NonNullable<AgentCliManifest['continuation']> => ({
  default: continuation.default,
  supported: continuation.supported,
  pinnedSession: {
    idleTimeoutMs: 1_800_000,
    keyScope: ['conversation', 'operator'],
    ...camelKeys(continuation.pinned_session ?? {}),
  },
})

const normaliseSetupStep = (step: SetupStepDocument): SetupStep => ({
  id: step.id,
  ...defined({
    description: step.description,
    skipIf: step.skip_if && { exitCode: 0, timeoutMs: 5_000, ...camelKeys(step.skip_if) },
  }),
  ...normaliseKind(step),
})

type StepKind = DistributiveOmit<SetupStep, 'id' | 'description' | 'skipIf'>
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

function normaliseKind(step: SetupStepDocument): StepKind {
  const persist = defined({ persist: step.persist && camelKeys(step.persist) })
  switch (step.kind) {
    case 'cmd': {
      const { cmd = '', timeout_ms: timeoutMs = 60_000, interactive = false } = step
      return { kind: 'cmd', cmd, timeoutMs, interactive, ...persist }
    }
    case 'prompt':
      return { ...normalisePrompt(step), ...persist }
    case 'oauth':
      return { kind: 'oauth', secretSlug: step.secret_slug ?? '' }
    case 'external': {
      const { url = '', callback } = step
      const waited = callback && { timeoutMs: 600_000, ...camelKeys(callback) }
      return { kind: 'external', url, ...defined({ callback: waited }), ...persist }
    }
    default:
      return step.kind satisfies never
  }
}

function normalisePrompt(step: SetupStepDocument): Extract<StepKind, { kind: 'prompt' }> {
  const { prompt = '', type = 'text', options } = step
  const choices = options && ('cmd' in options ? { timeoutMs: 30_000, ...camelKeys(options) } : options)
  return { kind: 'prompt', prompt, type, ...defined({ default: step.default, options: choices }) }
}
