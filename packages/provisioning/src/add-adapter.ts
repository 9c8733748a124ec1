import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { type AgentCliManifest, formatProblem } from '@agentproto/manifest'
import { type LoadedAgentCli, readAgentCli, type ReadAgentCliOptions } from '@agentproto/manifest/node'
import { findExecutable } from '@agentproto/subprocess'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { makeOwned, newestOf, removeOwned } from '@agentproto/driver-agent-cli/installation'
import { ADAPTER_SLUG } from './adapter-slug.js'
import { adapterFolder } from './adapter-folder.js'
import { npmInstall } from './install/npm-method.js'
import { noNpm } from './npm-package.js'
import { newInstallMarker, type ProvisionHost } from './provision-host.js'
import { runTool } from './run-tool.js'

/** Limits of an adapter's folder, which has its manifests and a few vendored files. */
const FILES_MAX = 2_000
const BYTES_MAX = 512 * 1024 * 1024
const NPM_MS = 5 * 60_000

/**
 * Adds an adapter to the owner's adapters, or replaces it: its folder is checked and copied as a whole.
 * @param source absolute path of a folder with an AGENT-CLI.md, or an npm package with one
 * @throws `path_invalid`, `install_failed`, `manifest_invalid` with every problem
 */
export async function addAdapter(source: string, host: AgentHost, signal: AbortSignal): Promise<LoadedAgentCli> {
  return inTemporaryFolder(host, async (temporary, installMarker) => {
    const from = { into: join(temporary, 'npm'), host: { ...host, installMarker }, signal }
    const folder = isAbsolute(source) ? source : await fromNpm(source, from)
    return copyAdapter(folder, host, { temporary, check: refuseEndpoint })
  })
}

/** The same for a folder that agentproto has written for the owner: only such a one may say that its agent runs elsewhere. */
export const addWrittenAdapter = (folder: string, host: AgentHost): Promise<LoadedAgentCli> =>
  inTemporaryFolder(host, (temporary) => copyAdapter(folder, host, { temporary, check: () => undefined }))

async function inTemporaryFolder<T>(
  host: AgentHost,
  work: (temporary: string, installMarker: string) => Promise<T>,
): Promise<T> {
  const { adapters } = homeLayout(host.home)
  await mkdir(adapters, { recursive: true, mode: 0o700 })
  const installMarker = newInstallMarker()
  const temporary = join(adapters, `.new-${randomBytes(4).toString('hex')}`)
  try {
    await makeOwned(temporary, installMarker)
    return await work(temporary, installMarker)
  } finally {
    await removeOwned(temporary)
  }
}

interface Copying {
  readonly temporary: string
  readonly check: (manifest: AgentCliManifest) => void
}

async function copyAdapter(folder: string, host: AgentHost, { temporary, check }: Copying): Promise<LoadedAgentCli> {
  const { adapters } = homeLayout(host.home)
  const { manifest } = await checkedFolder(folder, { anyFolder: true })
  const name = folderNameOf(manifest)
  const copy = join(temporary, 'copy', name)
  await copyFolder(folder, copy)
  // Checked again in the copy: the files that it refers to must have been copied, and the folder may have changed since.
  check((await checkedFolder(copy)).manifest)
  await refuseOther(join(adapters, name), manifest)
  const added = await putInPlace(copy, join(adapters, name))
  await removeOther(adapters, added)
  return added
}

/** Its author would decide where prompts and secrets of the owner are sent. */
function refuseEndpoint(manifest: AgentCliManifest): void {
  if (manifest.protocol !== 'acp' || manifest.endpoint === undefined) return
  throw new AgentprotoError('manifest_invalid', 'An adapter from a folder or a package cannot have an endpoint', {
    expected: 'an agent that is launched here',
    given: manifest.endpoint.url,
    hint: 'If you trust that address, add it yourself: agentproto adapters add <url>',
  })
}

interface FromNpm {
  readonly into: string
  readonly host: AgentHost & Pick<ProvisionHost, 'installMarker'>
  readonly signal: AbortSignal
}

/** Installs the package without running its scripts: an adapter is data. */
async function fromNpm(name: string, { into, host, signal }: FromNpm): Promise<string> {
  if (name.startsWith('-') || name.startsWith('.') || /[\s\0\\:]/.test(name)) throw noSource(name)
  const npm = await findExecutable('npm', { path: host.env['PATH'] ?? '' })
  if (npm === undefined) throw noNpm()
  await mkdir(into, { recursive: true, mode: 0o700 })
  const args = npmInstall(newestOf(name), into, ['--ignore-scripts'])
  const end = await runTool({ file: npm, args, cwd: into, timeoutMs: NPM_MS, signal }, host)
  if (end.exitCode !== 0)
    throw new AgentprotoError('install_failed', `npm could not fetch ${name}`, {
      given: firstWords(end.stderr),
      hint: `An agent of the registry is added as acp:<id>: agentproto adapters add acp:${name}`,
    })
  const bare = name.indexOf('@', 1) > 0 ? name.slice(0, name.indexOf('@', 1)) : name
  return adapterFolderIn(join(into, 'node_modules', bare))
}

/** npm says first what went wrong, after its code, and then at length what may help. */
function firstWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/^npm (?:error|ERR!)(?: \d{3}| code \S+)?/, '').trim())
  return (lines.find((line) => line !== '') ?? stderr).slice(0, 400)
}

/** The package itself, or the one folder in it that holds a manifest. */
async function adapterFolderIn(root: string): Promise<string> {
  const folders = await readdir(root, { withFileTypes: true }).catch(() => [])
  const candidates = [root, ...folders.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name))]
  const found = candidates.find((folder) => existsSync(join(folder, 'AGENT-CLI.md')))
  if (found !== undefined) return found
  throw new AgentprotoError('path_invalid', 'The package holds no AGENT-CLI.md', {
    given: root.split('node_modules/').at(-1),
  })
}

/** AIP-45: an adapter's folder has its name. */
function folderNameOf({ name }: AgentCliManifest): string {
  if (ADAPTER_SLUG.test(name)) return name
  throw new AgentprotoError('manifest_invalid', 'The name of the adapter cannot be the name of its folder', {
    expected: 'lower-case letters, digits and hyphens',
    given: name,
  })
}

async function checkedFolder(folder: string, options: ReadAgentCliOptions = {}): Promise<LoadedAgentCli> {
  if (!existsSync(join(folder, 'AGENT-CLI.md'))) throw noSource(folder)
  const read = await readAgentCli(folder, options)
  if (read.ok) return read
  throw new AgentprotoError('manifest_invalid', read.problems.map(formatProblem).join('\n'), {
    data: { problems: read.problems },
  })
}

async function copyFolder(from: string, to: string): Promise<void> {
  let files = 0
  let bytes = 0
  await cp(from, to, {
    recursive: true,
    filter: async (path) => {
      if (/\/(?:node_modules|\.git)$/.test(path)) return false
      const info = await lstat(path)
      // A link could lead out of the folder.
      if (info.isSymbolicLink()) return false
      files += 1
      bytes += info.isFile() ? info.size : 0
      if (files > FILES_MAX || bytes > BYTES_MAX)
        throw new AgentprotoError('path_invalid', 'The folder is too large for an adapter', { given: from })
      return true
    },
  })
}

async function putInPlace(copy: string, target: string): Promise<LoadedAgentCli> {
  const old = `${copy}.old`
  if (existsSync(target)) await rename(target, old)
  await rename(copy, target)
  return checkedFolder(target)
}

/** A folder is replaced only by the same adapter. */
async function refuseOther(target: string, { id }: AgentCliManifest): Promise<void> {
  const there = await readAgentCli(target, { anyFolder: true })
  if (!there.ok || there.manifest.id === id) return
  throw new AgentprotoError('path_invalid', 'Another adapter has a folder of that name', {
    expected: `the adapter ${there.manifest.id}`,
    given: id,
    hint: `Change its \`name\`, or remove ${target}`,
  })
}

/** A folder of another name with the same adapter: it would be there twice. */
async function removeOther(adapters: string, { directory, manifest }: LoadedAgentCli): Promise<void> {
  const other = await adapterFolder(adapters, manifest.id, directory)
  if (other !== undefined) await rm(other, { recursive: true, force: true })
}

const noSource = (given: string): AgentprotoError =>
  new AgentprotoError('path_invalid', 'The source is not an adapter', {
    expected: 'a folder with an AGENT-CLI.md, or an npm package with one',
    given,
  })
