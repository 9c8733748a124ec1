import type { SandboxDocument } from './agent-cli-document.js'
import type { SandboxProfile } from './agent-cli-manifest.js'
import { given } from './given.js'

/** Turns a checked AIP-36 block, inline or of a SANDBOX.md, into a profile. */
export function normaliseSandbox(document: SandboxDocument): SandboxProfile {
  const { network, fs, exec, tty, lifecycle, identity, policy, metadata } = document
  return {
    provider: document.provider,
    config: document.config ?? {},
    limits: normaliseLimits(document.limits),
    env: normaliseEnv(document.env),
    ...given('network', network && { egress: network.egress ?? [], ingress: network.ingress ?? [] }),
    mounts: (document.mounts ?? []).map(normaliseMount),
    readOnly: document.read_only ?? false,
    ...given('fs', fs && { read: fs.read ?? [], write: fs.write ?? [], deny: fs.deny ?? [] }),
    ...given('exec', exec && { allow: exec.allow, spawn: exec.spawn ?? [] }),
    ttyRequired: tty?.required ?? false,
    carried: {
      ...given('lifecycle', lifecycle),
      ...given('identity', identity),
      ...given('policy', policy),
      ...given('metadata', metadata),
    },
  }
}

const normaliseLimits = (limits: SandboxDocument['limits'] = {}): SandboxProfile['limits'] => ({
  ...given('timeoutMs', limits.timeout_ms),
  ...given('memoryMb', limits.memory_mb),
  ...given('cpuMs', limits.cpu_ms),
})

const normaliseEnv = ({ auth, passthrough = [], set = {} }: NonNullable<SandboxDocument['env']> = {}): SandboxProfile['env'] => ({
  ...given('secretsRef', auth?.ref),
  authVariables: auth?.state?.env ?? [],
  passthrough,
  set,
})

type MountDocument = NonNullable<SandboxDocument['mounts']>[number]

function normaliseMount({ source, at, mode = 'read-write' }: MountDocument): SandboxProfile['mounts'][number] {
  if (source === 'workspace') return { source, at, mode }
  const { ref, file, inline } = source
  if (ref !== undefined) return { source: { ref }, at, mode }
  return { source: file === undefined ? { inline } : { file }, at, mode }
}
