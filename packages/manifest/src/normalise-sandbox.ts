import type { SandboxDocument } from './agent-cli-document.js'
import type { SandboxProfile } from './agent-cli-manifest.js'
import { given } from './given.js'

/** Turns a checked AIP-36 block, inline or of a SANDBOX.md, into a profile. */
export function normaliseSandbox(document: SandboxDocument): SandboxProfile {
  const { provider, config = {}, limits, env, mounts = [], read_only: readOnly = false, tty } = document
  return {
    provider,
    config,
    limits: normaliseLimits(limits),
    env: normaliseEnv(env),
    ...given('network', document.network && normaliseNetwork(document.network)),
    mounts: mounts.map(normaliseMount),
    readOnly,
    ...given('fs', document.fs && normaliseFs(document.fs)),
    ...given('exec', document.exec && { allow: document.exec.allow, spawn: document.exec.spawn ?? [] }),
    ttyRequired: tty?.required ?? false,
    carried: normaliseCarried(document),
  }
}

type Block<K extends keyof SandboxDocument> = NonNullable<SandboxDocument[K]>

const normaliseNetwork = ({ egress = [], ingress = [] }: Block<'network'>): NonNullable<SandboxProfile['network']> => ({
  egress,
  ingress,
})

const normaliseFs = ({ read = [], write = [], deny = [] }: Block<'fs'>): NonNullable<SandboxProfile['fs']> => ({
  read,
  write,
  deny,
})

const normaliseCarried = ({ lifecycle, identity, policy, metadata }: SandboxDocument): SandboxProfile['carried'] => ({
  ...given('lifecycle', lifecycle),
  ...given('identity', identity),
  ...given('policy', policy),
  ...given('metadata', metadata),
})

const normaliseLimits = (limits: SandboxDocument['limits'] = {}): SandboxProfile['limits'] => ({
  ...given('timeoutMs', limits.timeout_ms),
  ...given('memoryMb', limits.memory_mb),
  ...given('cpuMs', limits.cpu_ms),
})

const normaliseEnv = ({ auth, passthrough = [], set = {} }: Block<'env'> = {}): SandboxProfile['env'] => ({
  ...given('secretsRef', auth?.ref),
  authVariables: auth?.state?.env ?? [],
  passthrough,
  set,
})

function normaliseMount({
  source,
  at,
  mode = 'read-write',
}: Block<'mounts'>[number]): SandboxProfile['mounts'][number] {
  if (source === 'workspace') return { source, at, mode }
  const { ref, file, inline } = source
  if (ref !== undefined) return { source: { ref }, at, mode }
  return { source: file === undefined ? { inline } : { file }, at, mode }
}
