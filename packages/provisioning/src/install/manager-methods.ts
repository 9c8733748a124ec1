import type { InstallMethod, PackageManager } from '@agentproto/manifest'
import { type Installing, type Method, MethodSkipped } from './installing.js'
import { checkPackage, requireTool, runInstaller } from './installer-command.js'
import { changePrefix } from './prefix-change.js'

type ManagedMethod = Method<PackageManager>

interface Manager {
  readonly tool: string
  /** Absent: any. */
  readonly os?: readonly NodeJS.Platform[]
  /** Changes the system, and so needs its administrator. */
  readonly asRoot?: boolean
  /** Installs into the agent's own prefix, and not where all programs are. */
  readonly ownPrefix?: boolean
  readonly args: (name: string, prefix: string) => readonly string[]
  /** The name without the version that it pins. */
  readonly unpinned?: (name: string) => string
  readonly env?: (prefix: string) => Readonly<Record<string, string>>
}

const MANAGERS: Readonly<Record<PackageManager, Manager>> = {
  brew: { tool: 'brew', os: ['darwin', 'linux'], args: (name) => ['install', name] },
  apt: {
    tool: 'apt-get',
    os: ['linux'],
    asRoot: true,
    args: (name) => ['install', '--yes', name],
    env: () => ({ DEBIAN_FRONTEND: 'noninteractive' }),
  },
  dnf: { tool: 'dnf', os: ['linux'], asRoot: true, args: (name) => ['install', '--assumeyes', name] },
  pacman: { tool: 'pacman', os: ['linux'], asRoot: true, args: (name) => ['-S', '--noconfirm', '--needed', name] },
  choco: { tool: 'choco', os: ['win32'], args: (name) => ['install', name, '--yes', '--no-progress'] },
  scoop: { tool: 'scoop', os: ['win32'], args: (name) => ['install', name] },
  cargo: { tool: 'cargo', ownPrefix: true, args: (name, prefix) => ['install', '--root', prefix, name] },
  go: {
    tool: 'go',
    ownPrefix: true,
    args: (name) => ['install', name.includes('@') ? name : `${name}@latest`],
    unpinned: (name) => name.replace(/@.*$/, ''),
    env: (prefix) => ({ GOBIN: `${prefix}/bin` }),
  },
}

export const isManaged = (method: InstallMethod): method is ManagedMethod & InstallMethod =>
  Object.hasOwn(MANAGERS, method.method)

/** Installs by a package manager of the system or of a language. */
export async function installByManager(method: ManagedMethod, installing: Installing): Promise<void> {
  const manager = MANAGERS[method.method]
  const { os } = installing.platform
  if (manager.os !== undefined && !manager.os.includes(os)) throw new MethodSkipped(`${method.method} is not of ${os}`)
  const named = checkPackage(method.package)
  const name = installing.latest === true ? (manager.unpinned?.(named) ?? named) : named
  const tool = await requireTool([manager.tool], installing)
  const run = async (prefix: string): Promise<void> => {
    const args = manager.args(name, prefix)
    const command = manager.asRoot === true ? await asRoot(tool, args, installing) : { file: tool, args }
    const env = manager.env === undefined ? {} : { env: manager.env(prefix) }
    await runInstaller({ method: method.method, ...command, ...env }, installing)
  }
  await (manager.ownPrefix === true ? changePrefix(installing, run) : run(installing.prefix))
}

/** sudo must not ask for a password: there may be no user to answer. */
async function asRoot(
  tool: string,
  args: readonly string[],
  installing: Installing,
): Promise<{ readonly file: string; readonly args: readonly string[] }> {
  if (process.getuid?.() === 0) return { file: tool, args }
  try {
    return { file: await requireTool(['sudo'], installing), args: ['-n', tool, ...args] }
  } catch {
    throw new MethodSkipped(`it needs root: run \`${tool} ${args.join(' ')}\` as root`)
  }
}
