import { execFile } from 'node:child_process'
import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentprotoError } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import type { FilePolicy } from './file-policy.js'
import type { Place } from './place.js'

/** What programs need to run where only named folders are visible. */
const SYSTEM = new Set(['bin', 'etc', 'lib', 'lib32', 'lib64', 'libx32', 'nix', 'opt', 'sbin', 'sys', 'usr', 'var'])
/** Created inside the sandbox. /run contains sockets of daemons that would run commands outside of it. */
const OWN = new Set(['dev', 'proc', 'run', 'tmp'])

const PROBE = fileURLToPath(new URL('../bin/sandbox-probe.mjs', import.meta.url))
const PROBE_MS = 10_000

const NAMESPACES = ['ipc', 'net', 'pid', 'uts', 'cgroup-try'].map((name) => `--unshare-${name}`)
/** Own namespaces and no capabilities: even root can neither see nor signal what is outside. */
const ISOLATION = ['--die-with-parent', ...NAMESPACES, '--cap-drop', 'ALL']
/** The agent cannot become root of a user namespace, and mount what is closed again. Needs bubblewrap 0.8. */
const NO_USER_NAMESPACES = ['--unshare-user', '--disable-userns']
const FRESH = ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run']

export interface Bubblewrap {
  /** Absent when it does not work on this host. */
  readonly file?: string
  /** Why not, or what it does not confine here. */
  readonly reason?: string
  readonly isolation: readonly string[]
}

/** Finds bubblewrap and tries it: containers and hardened kernels often do not permit it. */
export async function findBubblewrap(path: string): Promise<Bubblewrap> {
  const none = { isolation: [] }
  if (process.platform !== 'linux')
    return { ...none, reason: `bubblewrap needs Linux, and this is ${process.platform}` }
  const file = await findExecutable('bwrap', { path })
  if (file === undefined) return { ...none, reason: 'bubblewrap (bwrap) is not installed' }
  const failureOf = async (isolation: readonly string[]): Promise<string | undefined> =>
    (await tryInside(file, [...isolation, '--ro-bind', '/', '/', ...FRESH, '--', process.execPath, '--version']))
      .failure
  const strict = [...ISOLATION, ...NO_USER_NAMESPACES]
  const failure = await failureOf(strict)
  if (failure === undefined) return { file, isolation: strict }
  const worse = await failureOf(ISOLATION)
  if (worse !== undefined) return { ...none, reason: `bubblewrap does not work here: ${worse}` }
  return { file, isolation: ISOLATION, reason: `bubblewrap leaves user namespaces to the agent: ${failure}` }
}

/** Starts a program in a sandbox and gives what it printed, or why it did not end well. */
function tryInside(file: string, args: readonly string[]): Promise<{ failure?: string; stdout: string }> {
  return new Promise((resolve) => {
    execFile(file, [...args], { timeout: PROBE_MS, env: {} }, (error, stdout, stderr) => {
      if (error === null) return resolve({ stdout })
      resolve({ stdout, failure: (stderr.trim().split('\n').at(-1) ?? '').slice(0, 300) || error.message })
    })
  })
}

/**
 * Looks from inside of a sandbox for what must not be possible in any.
 * @returns what is, for people; nothing where it confines as it should
 * @throws `sandbox_unavailable` when nothing can be started in it
 */
export async function probeSandbox(
  file: string,
  args: readonly string[],
  { places, texts }: FilePolicy,
): Promise<readonly string[]> {
  const expected = JSON.stringify({
    namespaces: ['net', 'pid', 'ipc', 'mnt'].map((name) => readlinkSync(`/proc/self/ns/${name}`)),
    hidden: places.flatMap(({ at, access }) => (access === 'hidden' ? [at] : [])),
    mounted: [...places.filter(({ access }) => access !== 'hidden'), ...texts].map(({ at }) => at),
  })
  const { failure, stdout } = await tryInside(file, [...args, process.execPath, PROBE, expected])
  if (failure === undefined) return JSON.parse(stdout) as readonly string[]
  throw new AgentprotoError('sandbox_unavailable', `Nothing can be started in this sandbox: ${failure}`, {
    expected: 'mount points that exist, or are directly below / or below /tmp',
  })
}

export interface Confinement extends Pick<Bubblewrap, 'isolation'> {
  readonly files: FilePolicy
  /** Files with the profile's texts, and sockets: mounted last. */
  readonly extras: readonly { readonly from: string; readonly at: string }[]
  readonly cwd: string
}

/** The arguments before the command. */
export function bubblewrapArgs({ isolation, files, extras, cwd }: Confinement): readonly string[] {
  const mountedLast = extras.flatMap(({ from, at }) => ['--ro-bind', from, at])
  const places = [...baseOf(files), ...files.places.flatMap(mountOf), ...mountedLast, '--dir', cwd]
  return [...isolation, ...places, ...remountReadOnly(files), '--chdir', cwd, '--']
}

function baseOf({ host }: FilePolicy): readonly string[] {
  if (host === 'unchanged') return ['--bind', '/', '/', '--ro-bind', '/sys', '/sys', ...FRESH]
  const top = readdirSync('/').filter((name) => !OWN.has(name) && (host !== 'system' || SYSTEM.has(name)))
  return ['--tmpfs', '/', ...top.flatMap((name) => topMount(join('/', name))), ...FRESH, '--tmpfs', '/tmp']
}

/**
 * The root and the file systems that hide folders are ours: writable until every mount point exists. All of `/proc`:
 * its settings are root's to write without any capability, and `--proc` protects only four of them, and not from root.
 */
function remountReadOnly({ host, places }: FilePolicy): readonly string[] {
  const hidden = places.filter(({ at, from = at, access }) => access === 'hidden' && isFolder(from))
  const own = ['/proc', ...(host === 'unchanged' ? [] : ['/']), ...hidden.map(({ at }) => at)]
  return own.flatMap((at) => ['--remount-ro', at])
}

/** A top-level folder or link of the host, read-only. */
function topMount(path: string): readonly string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isSymbolicLink() === true) return ['--symlink', readlinkSync(path), path]
  return stat?.isDirectory() === true ? ['--ro-bind-try', path, path] : []
}

function mountOf({ at, access, from = at }: Place): readonly string[] {
  if (access === 'read-write') return ['--bind', from, at]
  if (access === 'read-only') return ['--ro-bind', from, at]
  return isFolder(from) ? ['--tmpfs', at] : ['--ro-bind', '/dev/null', at]
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
