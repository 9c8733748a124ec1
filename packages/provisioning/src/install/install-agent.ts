import { totalmem } from 'node:os'
import { mkdir, statfs } from 'node:fs/promises'
import { AgentprotoError, asString, defined, isAgentprotoError } from '@agentproto/contracts'
import type { AgentCliManifest, InstallMethod } from '@agentproto/manifest'
import { agentPrefix, findAgent, type LocatedAgent } from '@agentproto/driver-agent-cli/installation'
import { installDownload, installScript, installVendored } from './file-methods.js'
import { installByManager, isManaged } from './manager-methods.js'
import { installNpm } from './npm-method.js'
import { type Installing, MethodSkipped } from './installing.js'
import { newInstallMarker } from '../provision-host.js'
import { clearLeftovers } from './prefix-change.js'
import { installPip } from './pip-method.js'
import { installUv } from './uv-method.js'

interface Attempt {
  readonly method: string
  readonly state: 'skipped' | 'failed'
  readonly detail: string
  /** Of a download that was refused for it. */
  readonly sha256?: string
}

/**
 * Tries the manifest's install methods in order until one succeeds (AIP-29 §Install).
 * @returns the method that did, and where the agent is
 * @throws `install_failed` with each attempt and its reason, `cancelled`
 */
export async function installAgent(
  options: Omit<Installing, 'prefix' | 'platform'>,
): Promise<{ readonly method: InstallMethod; readonly found: LocatedAgent }> {
  const { manifest, emit } = options
  const host = { installMarker: newInstallMarker(), ...options.host }
  const { os = process.platform, arch = process.arch } = host.platform ?? {}
  const installing: Installing = { ...options, host, platform: { os, arch }, prefix: agentPrefix(manifest, host) }
  await mkdir(`${host.home}/agents`, { recursive: true, mode: 0o700 })
  await clearLeftovers(installing.prefix)
  const attempts: Attempt[] = []
  for (const method of manifest.install) {
    const name = nameOf(method)
    try {
      await checkRequirements(installing)
      await runMethod(method, installing)
      const found = await foundAfter(installing)
      emit({ type: 'method', method: name, state: 'done', detail: found.file })
      return { method, found }
    } catch (thrown) {
      const { sha256, ...attempt } = attemptOf(name, thrown, options.signal)
      attempts.push({ ...attempt, ...defined({ sha256 }) })
      emit({ type: 'method', ...attempt })
    }
  }
  throw noneInstalled(manifest, attempts)
}

async function runMethod(method: InstallMethod, installing: Installing): Promise<void> {
  if (isManaged(method)) return installByManager(method, installing)
  switch (method.method) {
    case 'npm':
      return installNpm(method, installing)
    case 'pip':
      return installPip(method, installing)
    case 'uv':
      return installUv(method, installing)
    case 'curl':
      return installScript(method, installing)
    case 'download':
      return installDownload(method, installing)
    case 'vendored':
      return installVendored(method, installing)
    case 'unknown':
      installing.emit({
        type: 'warning',
        message: `This version of agentproto does not support the install method ${method.name}.`,
      })
      throw new MethodSkipped('this version does not support it')
    default:
      return method satisfies never
  }
}

/** AIP-29 `requires`. Too little memory is a warning: the agent may still run, slowly. */
async function checkRequirements({ manifest, host, platform, emit }: Installing): Promise<void> {
  const { os, arch, minDiskMb, minMemoryMb } = manifest.requires
  const here = { os: OS_NAMES[platform.os] ?? platform.os, arch: ARCH_NAMES[platform.arch] ?? platform.arch }
  if (os !== undefined && !os.some((name) => name === here.os))
    throw new MethodSkipped(`it runs on ${os.join(', ')}, not on ${here.os}`)
  if (arch !== undefined && !arch.some((name) => name === here.arch))
    throw new MethodSkipped(`it runs on ${arch.join(', ')}, not on ${here.arch}`)
  if (minDiskMb !== undefined) {
    const { bavail, bsize } = await statfs(host.home)
    const free = Math.floor((bavail * bsize) / 1024 / 1024)
    if (free < minDiskMb) throw new MethodSkipped(`it needs ${minDiskMb} MiB of disk, and ${free} are free`)
  }
  const memory = Math.floor(totalmem() / 1024 / 1024)
  if (minMemoryMb !== undefined && memory < minMemoryMb) {
    emit({
      type: 'warning',
      message: `${manifest.name} needs ${minMemoryMb} MiB of memory; this machine has ${memory}.`,
    })
  }
}

const OS_NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { win32: 'windows' }
const ARCH_NAMES: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { ia32: 'x86' }

async function foundAfter({ manifest, host }: Installing): Promise<LocatedAgent> {
  const found = await findAgent(manifest, host)
  if (found !== undefined) return found
  throw new AgentprotoError(
    'install_failed',
    `it succeeded, but ${manifest.bin} is neither in the agent's folder nor on PATH`,
  )
}

function attemptOf(method: string, thrown: unknown, signal: AbortSignal): Attempt {
  if (signal.aborted) throw thrown
  if (isAgentprotoError(thrown) && thrown.code === 'cancelled') throw thrown
  const detail = thrown instanceof Error ? thrown.message : String(thrown)
  const sha256 = isAgentprotoError(thrown) ? asString(thrown.parts.data?.['sha256']) : undefined
  return { method, state: thrown instanceof MethodSkipped ? 'skipped' : 'failed', detail, ...defined({ sha256 }) }
}

const nameOf = (method: InstallMethod): string => (method.method === 'unknown' ? method.name : method.method)

function noneInstalled(manifest: AgentCliManifest, attempts: readonly Attempt[]): AgentprotoError {
  const reasons = attempts.map(
    ({ method, state, detail }) => `${method} ${state === 'failed' ? 'failed' : 'was skipped'}: ${detail}`,
  )
  return new AgentprotoError('install_failed', `${manifest.name} could not be installed. ${reasons.join('; ')}`, {
    hint: 'Fix one of these, or install it by hand: an agent on PATH is used',
    data: { attempts },
  })
}
