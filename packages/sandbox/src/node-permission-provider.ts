import type { Launch } from '@agentproto/contracts/agent'
import { filePolicy, type FilePolicy } from './file-policy.js'
import { isBelow } from './place.js'
import type { ConfinementProfile, PreparedLaunch, SandboxProvider, SandboxRequest } from './sandbox-provider.js'

/** The flag of one Node version's permission model, and what it confines. */
export interface PermissionModel {
  readonly flag: '--permission' | '--experimental-permission'
  /** Node 25 and later can also confine the network: all hosts or none. */
  readonly network: boolean
}

/** The permission model of a Node version, such as `22.13.0`. Pure. */
export function permissionModel(version: string): PermissionModel {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const stable = major >= 24 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13)
  return { flag: stable ? '--permission' : '--experimental-permission', network: major >= 25 }
}

/** Confines with Node's own permission model: only scripts that Node runs. */
export function createNodePermissionProvider(): SandboxProvider {
  async function prepare(profile: ConfinementProfile, request: SandboxRequest): Promise<PreparedLaunch> {
    const { launch } = request
    if (!isNodeScript(launch)) {
      const reason = 'node-permission confines only scripts that this Node runs, and this agent is not one'
      return { launch, enforced: false, reason, warnings: [] }
    }
    const parts = { files: filePolicy(profile, request), model: permissionModel(process.versions.node), request }
    const { files } = parts
    const gaps = [...files.gaps, ...gapsOf(profile, parts)]
    return {
      launch: { ...launch, args: [...flags(profile, parts), ...launch.args] },
      enforced: gaps.length === 0,
      ...(gaps.length === 0 ? {} : { reason: gaps.join('; ') }),
      warnings: files.warnings,
    }
  }

  return { prepare }
}

/** Only this Node: another program of that name may ignore the flags. */
const isNodeScript = ({ command, args: [script = ''] }: Launch): boolean =>
  command === process.execPath && /\.[cm]?js$/.test(script)

interface FlagParts {
  readonly files: FilePolicy
  readonly model: PermissionModel
  readonly request: SandboxRequest
}

function flags(profile: ConfinementProfile, { files, model, request }: FlagParts): readonly string[] {
  const writable = files.places.filter(({ access }) => access === 'read-write').map(({ at }) => at)
  const seen = files.places.filter(({ access }) => access !== 'hidden').map(({ at }) => at)
  // Node itself must read the script and its modules.
  const readable =
    files.host === 'system' ? [...seen, ...(request.readable ?? []), ...modulesOf(request.launch)] : ['*']
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
  { network, exec }: ConfinementProfile,
  { files, model, request: { launch } }: FlagParts,
): readonly string[] {
  const moved = files.texts.length > 0 || files.places.some(({ at, from = at }) => from !== at)
  const seen = files.host === 'system' ? files.places.filter(({ access }) => access !== 'hidden') : [{ at: '/' }]
  const hidden = files.places.filter(({ access }) => access === 'hidden')
  const exposed = hidden.some((cover) => seen.some(({ at }) => isBelow(cover.at, at)))
  const gaps: readonly (readonly [boolean, string])[] = [
    [!model.network, 'this Node version does not confine the network'],
    [model.network && (network?.egress ?? []).length > 0, 'Node permits network access to all hosts or none'],
    [(network?.ingress ?? []).length > 0, 'Node does not limit who connects'],
    [exec?.allow === true, 'programs that the agent runs are not confined'],
    [exposed, 'Node has no exceptions within an allowed folder, such as agentproto’s own'],
    [/--allow-/.test(launch.env['NODE_OPTIONS'] ?? ''), 'NODE_OPTIONS changes what Node permits'],
    [moved, 'Node cannot mount a file at another path'],
  ]
  return gaps.flatMap(([open, gap]) => (open ? [gap] : []))
}
