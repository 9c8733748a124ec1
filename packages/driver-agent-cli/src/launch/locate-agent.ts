import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AgentCliManifest, InstallMethod } from '@agentproto/manifest'
import { commandFor, findExecutable } from '@agentproto/subprocess'
import type { AgentHost } from '../agent-host.js'
import { launchHints } from './launch-hints.js'

/** How an agent is run, before its own arguments. */
export interface AgentCommand {
  /** Absolute path. */
  readonly command: string
  readonly args: readonly string[]
}

/** Where an agent was found. */
export interface LocatedAgent {
  /** Absolute path of the native binary or of the script, past npm's link to it. */
  readonly file: string
  /** Named by the host, in the agent's own prefix below the home, or on PATH. */
  readonly place: 'host' | 'prefix' | 'path'
}

/** Folder below the home that an agent is installed into. */
export const agentPrefix = (manifest: Pick<AgentCliManifest, 'id'>, host: Pick<AgentHost, 'home'>): string =>
  join(host.home, 'agents', manifest.id)

/** Folders of an agent's own prefix that hold its programs: npm's, those of the other installers, Python's. */
export const programFolders = (prefix: string): readonly string[] =>
  ['node_modules/.bin', 'bin', 'venv/bin'].map((folder) => join(prefix, folder))

/**
 * Finds the executable of a manifest: where the host says, in the agent's own npm prefix below the home,
 * then on the healed PATH. Undefined when it is not installed.
 */
export async function locateAgent(manifest: AgentCliManifest, host: AgentHost): Promise<AgentCommand | undefined> {
  const found = await findAgent(manifest, host)
  return found === undefined ? undefined : commandFor(found.file)
}

/** As {@link locateAgent}, with the file and the place. */
export async function findAgent(manifest: AgentCliManifest, host: AgentHost): Promise<LocatedAgent | undefined> {
  const { executables = {}, env } = host
  if (Object.hasOwn(executables, manifest.bin)) {
    const file = await findExecutable(manifest.bin, { executables })
    return file === undefined ? undefined : { file, place: 'host' }
  }
  const inPrefix = await findInPrefix(manifest, agentPrefix(manifest, host))
  if (inPrefix !== undefined) return { file: inPrefix, place: 'prefix' }
  const onPath = await findExecutable(manifest.bin, {
    ...defined({ path: env['PATH'], home: env['HOME'] }),
  })
  return onPath === undefined ? undefined : { file: onPath, place: 'path' }
}

/** Finds the executable in one prefix alone. */
export async function findInPrefix(manifest: AgentCliManifest, prefix: string): Promise<string | undefined> {
  for (const hint of launchHints(manifest).files) {
    const file = join(prefix, hint)
    const found = await findExecutable(manifest.bin, { executables: { [manifest.bin]: file } })
    if (found !== undefined) return found
  }
  for (const folder of programFolders(prefix)) {
    // A name with a slash is relative to a folder of programs here, and nowhere else.
    const found = await findExecutable(join(folder, manifest.bin))
    // Past npm's link, a script is known by its name, and needs no `node` on PATH.
    if (found !== undefined) return realpath(found)
  }
  return undefined
}

/** As {@link locateAgent}. @throws `agent_not_installed`, with what to run */
export async function requireAgent(manifest: AgentCliManifest, host: AgentHost): Promise<AgentCommand> {
  const found = await locateAgent(manifest, host)
  if (found) return found
  const install = manifest.install.map(installCommand).find((command) => command !== undefined)
  throw new AgentprotoError('agent_not_installed', `The executable ${manifest.bin} of ${manifest.name} is not found`, {
    expected: `${manifest.bin} on PATH`,
    ...(install === undefined ? {} : { hint: `Install it: ${install}` }),
  })
}

/** The commands that a person can run as they are; undefined where it takes more than one word and a package. */
const INSTALLERS: Readonly<Record<Extract<InstallMethod, { package: string }>['method'], string | undefined>> = {
  npm: 'npm install --global',
  brew: 'brew install',
  cargo: 'cargo install',
  pip: 'pip install',
  uv: 'uv tool install',
  go: 'go install',
  apt: undefined,
  dnf: undefined,
  pacman: undefined,
  choco: undefined,
  scoop: undefined,
}

function installCommand(method: InstallMethod): string | undefined {
  if (!('package' in method) || INSTALLERS[method.method] === undefined) return undefined
  return `${INSTALLERS[method.method]} ${method.method === 'npm' ? newestOf(method.package) : method.package}`
}

/**
 * An npm package with a version: without one, npm silently takes an old release whose `engines` admit this
 * Node, where the newest do not and run all the same.
 */
export const newestOf = (npmPackage: string): string =>
  npmPackage.indexOf('@', 1) > 0 ? npmPackage : `${npmPackage}@latest`
