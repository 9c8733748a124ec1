import { spawnSync } from 'node:child_process'
import type { Launch } from '@agentproto/contracts/agent'
import { filePolicy, type FilePolicy } from './file-policy.js'
import type { ConfinementProfile, PreparedLaunch, SandboxProvider, SandboxRequest } from './sandbox-provider.js'

/** The flag of one Node version's permission model, and what it confines. */
export interface PermissionModel {
  readonly flag: '--permission' | '--experimental-permission'
  /** Node 25 and later can also confine the network: all hosts or none. */
  readonly network: boolean
}

/** The permission model of a Node version, such as `22.13.0`. Undefined before Node 20. Pure. */
export function permissionModel(version: string): PermissionModel | undefined {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  if (major < 20) return undefined
  const stable = major >= 24 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13)
  return { flag: stable ? '--permission' : '--experimental-permission', network: major >= 25 }
}

/** Confines with Node's own permission model: only scripts that Node runs. */
export function createNodePermissionProvider(): SandboxProvider {
  async function prepare(profile: ConfinementProfile, request: SandboxRequest): Promise<PreparedLaunch> {
    const { launch } = request
    const model = isNodeScript(launch) ? permissionModel(versionOf(launch)) : undefined
    if (model === undefined) {
      const reason = 'node-permission confines only scripts that Node 20 or later runs, and this agent is not one'
      return { launch, enforced: false, reason, warnings: [] }
    }
    const files = filePolicy(profile, request)
    const gaps = [...files.gaps, ...gapsOf(profile, files, model)]
    return {
      launch: { ...launch, args: [...flags(profile, { files, model, request }), ...launch.args] },
      enforced: gaps.length === 0,
      ...(gaps.length === 0 ? {} : { reason: gaps.join('; ') }),
      warnings: files.warnings,
    }
  }

  return { prepare }
}

const isNodeScript = ({ command, args: [script = ''] }: Launch): boolean =>
  /(?:^|\/)node(?:\.exe)?$/.test(command) && /\.[cm]?js$/.test(script)

function versionOf({ command }: Launch): string {
  if (command === process.execPath) return process.versions.node
  return spawnSync(command, ['--version'], { encoding: 'utf8', timeout: 10_000, env: {} }).stdout.trim()
}

interface FlagParts {
  readonly files: FilePolicy
  readonly model: PermissionModel
  readonly request: SandboxRequest
}

function flags(profile: ConfinementProfile, { files, model, request }: FlagParts): readonly string[] {
  const writable = files.places.filter(({ access }) => access === 'read-write').map(({ at }) => at)
  const seen = files.places.filter(({ access }) => access !== 'hidden').map(({ at }) => at)
  // Node itself must read the script and its modules.
  const readable = files.closed ? [...seen, ...(request.readable ?? []), ...modulesOf(request.launch)] : ['*']
  return [
    model.flag,
    ...[...new Set(readable)].map((path) => `--allow-fs-read=${path}`),
    ...[...new Set(writable)].map((path) => `--allow-fs-write=${path}`),
    ...(profile.exec?.allow === true ? ['--allow-child-process'] : []),
    ...(model.network && (profile.network?.egress.length ?? 0) > 0 ? ['--allow-net'] : []),
  ]
}

const modulesOf = ({ args: [script = ''] }: Launch): readonly string[] => {
  const modules = script.indexOf('/node_modules/')
  return [modules > 0 ? script.slice(0, modules) : script]
}

function gapsOf(
  { network, exec, fs }: ConfinementProfile,
  files: FilePolicy,
  model: PermissionModel,
): readonly string[] {
  const moved = files.texts.length > 0 || files.places.some(({ from }) => from !== undefined)
  const gaps: readonly (readonly [boolean, string])[] = [
    [!model.network, 'this Node version does not confine the network'],
    [model.network && (network?.egress ?? []).length > 0, 'Node permits network access to all hosts or none'],
    [exec?.allow === true, 'programs that the agent runs are not confined'],
    [(fs?.deny ?? []).length > 0, 'Node has no exceptions within an allowed folder'],
    [moved, 'Node cannot mount a file at another path'],
  ]
  return gaps.flatMap(([open, gap]) => (open ? [gap] : []))
}
