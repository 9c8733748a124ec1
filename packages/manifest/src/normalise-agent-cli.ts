import type {
  AgentCliDocument,
  AuthDocument,
  InstallMethodDocument,
  ModeDocument,
  OptionDocument,
} from './agent-cli-document.js'
import {
  type AgentCliManifest,
  type AgentCliWire,
  type Auth,
  type Continuation,
  INSTALL_METHODS,
  type InstallMethod,
  type InstallMethodName,
  type ManifestCapabilities,
  type Mode,
  type Models,
  type Option,
  type Requires,
  type SessionPolicy,
} from './agent-cli-manifest.js'
import { given } from './given.js'
import { normaliseSandbox } from './normalise-sandbox.js'
import { normaliseSetupStep } from './normalise-setup.js'

/** Turns a document that passed the schema and the rules into the manifest that programs use. */
export function normaliseAgentCli(document: AgentCliDocument): AgentCliManifest {
  const { name, id, description, version, bin, sandbox } = document
  return {
    name,
    id,
    description,
    version,
    bin,
    binArgs: document.bin_args ?? [],
    install: document.install.map(normaliseInstall),
    versionCheck: {
      cmd: document.version_check.cmd,
      parse: document.version_check.parse,
      range: document.version_check.range,
      timeoutMs: document.version_check.timeout_ms ?? 5_000,
    },
    requires: normaliseRequires(document.requires),
    setup: (document.setup ?? []).map(normaliseSetupStep),
    ...given('auth', document.auth && normaliseAuth(document.auth)),
    sandbox:
      typeof sandbox === 'string'
        ? { from: 'file', path: sandbox }
        : { from: 'inline', profile: normaliseSandbox(sandbox) },
    ...given('runner', document.runner),
    session: normaliseSession(document.session),
    models: normaliseModels(document.models),
    capabilities: normaliseCapabilities(document.capabilities),
    modes: (document.modes ?? []).map(normaliseMode),
    options: (document.options ?? []).map(normaliseOption),
    ...given('continuation', document.continuation && normaliseContinuation(document.continuation)),
    examples: document.examples ?? [],
    tags: document.tags ?? [],
    metadata: document.metadata ?? {},
    ...normaliseWire(document),
  }
}

function normaliseWire({ protocol, acp = '', mcp, adapter = '', bin }: AgentCliDocument): AgentCliWire {
  switch (protocol) {
    case 'acp':
      return { protocol, acp }
    case 'proprietary':
      return { protocol, adapter }
    case 'mcp': {
      const { transport = 'stdio', command = bin, args = [], url = '' } = mcp ?? {}
      return { protocol, mcp: transport === 'stdio' ? { transport, command, args } : { transport, url } }
    }
    default:
      return protocol satisfies never
  }
}

function normaliseInstall(document: InstallMethodDocument): InstallMethod {
  const {
    method,
    experimental = false,
    package: name = '',
    url = '',
    path = '',
    extract_bin: extractBin = '',
  } = document
  const checksum = given('verifySha256', document.verify_sha256)
  if (!isInstallMethod(method)) return { method: 'unknown', experimental, name: method }
  switch (method) {
    case 'brew':
    case 'apt':
    case 'dnf':
    case 'pacman':
    case 'choco':
    case 'scoop':
    case 'cargo':
    case 'go':
      return { method, experimental, package: name }
    case 'npm':
      return { method, experimental, package: name, global: document.global ?? false }
    case 'pip':
      return { method, experimental, package: name, user: document.user ?? false }
    case 'curl':
      return { method, experimental, url, ...checksum }
    case 'download':
      return { method, experimental, url, extractBin, ...checksum }
    case 'vendored':
      return { method, experimental, path }
    default:
      return method satisfies never
  }
}

const isInstallMethod = (name: string): name is InstallMethodName =>
  (INSTALL_METHODS as readonly string[]).includes(name)

const normaliseRequires = (requires: AgentCliDocument['requires'] = {}): Requires => ({
  ...given('os', requires.os),
  ...given('arch', requires.arch),
  ...given('minDiskMb', requires.min_disk_mb),
  ...given('minMemoryMb', requires.min_memory_mb),
})

function normaliseAuth({ ref, state, login, refresh, expiry }: AuthDocument): Auth {
  return {
    ...given('ref', ref),
    state: { paths: state?.paths ?? [], env: state?.env ?? [] },
    ...given('login', login && normaliseLogin(login)),
    ...given('refresh', refresh),
    ...given('expiry', expiry && { exitCode: Number(expiry.detect.slice('exit_code:'.length)) }),
  }
}

function normaliseLogin(login: NonNullable<AuthDocument['login']>): NonNullable<Auth['login']> {
  const { cmd, interactive = false, requires_callback_url: requiresCallbackUrl = false, completes_when: done } = login
  return {
    cmd,
    interactive,
    requiresCallbackUrl,
    ...given('completesWhen', done && { cmd: done.cmd, exitCode: done.exit_code ?? 0 }),
  }
}

const normaliseSession = (session: AgentCliDocument['session'] = {}): SessionPolicy => ({
  mode: session.mode ?? 'ephemeral',
  ...given('idleTimeoutMs', session.idle_timeout_ms),
  ...given('maxTurns', session.max_turns),
  contextCarryover: session.context_carryover ?? true,
})

const normaliseModels = (models: AgentCliDocument['models'] = {}): Models => ({
  ...given('default', models.default),
  ...given('allowed', models.allowed),
  env: models.env ?? {},
})

const normaliseCapabilities = (declared: AgentCliDocument['capabilities'] = {}): ManifestCapabilities => ({
  streaming: declared.streaming ?? false,
  toolCalls: declared.tool_calls ?? false,
  subAgents: declared.sub_agents ?? false,
  fileIo: declared.file_io ?? false,
  multimodal: declared.multimodal ?? false,
  resumable: declared.resumable ?? false,
  bidirectional: declared.bidirectional ?? false,
})

const normaliseMode = ({ id, description, bin_args_append: append = [], env = {} }: ModeDocument): Mode => ({
  id,
  ...given('description', description),
  binArgsAppend: append,
  env,
})

function normaliseOption(option: OptionDocument): Option {
  const common = {
    id: option.id,
    ...given('description', option.description),
    binArgsTemplate: option.bin_args_template ?? [],
    env: option.env ?? {},
  }
  const value = option.default
  switch (option.type) {
    case 'boolean': {
      const fallback = typeof value === 'boolean' ? value : undefined
      const whenTrue = option.bin_args_append_when_true ?? []
      return { ...common, type: 'boolean', ...given('default', fallback), binArgsAppendWhenTrue: whenTrue }
    }
    case 'integer': {
      const fallback = typeof value === 'number' ? value : undefined
      return {
        ...common,
        type: 'integer',
        ...given('default', fallback),
        ...given('min', option.min),
        ...given('max', option.max),
      }
    }
    case 'string':
      return { ...common, type: 'string', ...given('default', typeof value === 'string' ? value : undefined) }
    case 'enum':
      return {
        ...common,
        type: 'enum',
        ...given('default', typeof value === 'string' ? value : undefined),
        enum: option.enum ?? [],
      }
  }
}

function normaliseContinuation(document: NonNullable<AgentCliDocument['continuation']>): Continuation {
  const { idle_timeout_ms: idleTimeoutMs = 1_800_000, key_scope: keyScope = ['conversation', 'operator'] as const } =
    document.pinned_session ?? {}
  return { default: document.default, supported: document.supported, pinnedSession: { idleTimeoutMs, keyScope } }
}
