import { execFile } from 'node:child_process'
import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findExecutable } from '@agentproto/subprocess'
import type { FilePolicy, Place } from './file-policy.js'

/** What programs need to run at all, where only named folders are seen. */
const SYSTEM = new Set(['bin', 'etc', 'lib', 'lib32', 'lib64', 'libx32', 'nix', 'opt', 'sbin', 'sys', 'usr', 'var'])
/** Made anew inside. Sockets of daemons that do as they are told are below /run. */
const OWN = new Set(['dev', 'proc', 'run', 'tmp'])

const PROBE_MS = 10_000

/** Namespaces of its own and no capability: also root can neither see nor signal what is outside. */
const APART = [
  '--die-with-parent',
  '--unshare-ipc',
  '--unshare-net',
  '--unshare-pid',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--cap-drop',
  'ALL',
]
const FRESH = ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run']

export interface Bubblewrap {
  /** Absent where it does not work here. */
  readonly file?: string
  readonly reason?: string
}

/** Finds bubblewrap and tries it: containers and hardened kernels often refuse what it needs. */
export async function findBubblewrap(path: string): Promise<Bubblewrap> {
  if (process.platform !== 'linux')
    return { reason: `bubblewrap confines on Linux alone, and this is ${process.platform}` }
  const file = await findExecutable('bwrap', { path })
  if (file === undefined) return { reason: 'bubblewrap (bwrap) is not installed' }
  const refusal = await tried(file)
  return refusal === undefined ? { file } : { reason: `bubblewrap does not work here: ${refusal}` }
}

function tried(file: string): Promise<string | undefined> {
  const args = [...APART, '--ro-bind', '/', '/', ...FRESH, '--', process.execPath, '--version']
  return new Promise((resolve) => {
    execFile(file, args, { timeout: PROBE_MS, env: {} }, (error, _stdout, stderr) => {
      resolve(error === null ? undefined : (stderr.trim().split('\n').at(-1) ?? '').slice(0, 300) || error.message)
    })
  })
}

export interface Confinement {
  /** Absent: files are as the host has them. */
  readonly files?: FilePolicy
  /** Files of the host that are seen as texts of the profile, and sockets: laid last. */
  readonly extras: readonly { readonly from: string; readonly at: string }[]
  readonly cwd: string
}

/** The arguments before the command. */
export function bubblewrapArgs({ files, extras, cwd }: Confinement): readonly string[] {
  const base = files === undefined ? ['--bind', '/', '/', ...FRESH] : confinedBase(files)
  const laidLast = extras.flatMap(({ from, at }) => ['--ro-bind', from, at])
  return [...APART, ...base, ...laidLast, '--dir', cwd, ...sealed(files), '--chdir', cwd, '--']
}

function confinedBase(files: FilePolicy): readonly string[] {
  const top = readdirSync('/').filter((name) => !OWN.has(name) && (!files.closed || SYSTEM.has(name)))
  const shownTop = top.flatMap((name) => shown(join('/', name)))
  return ['--tmpfs', '/', ...shownTop, ...FRESH, '--tmpfs', '/tmp', ...files.places.flatMap(laid)]
}

/** The root and what hides a folder are file systems of ours: writable until every mount point is made. */
function sealed(files: FilePolicy | undefined): readonly string[] {
  if (files === undefined) return []
  const hidden = files.places.filter(({ at, access }) => access === 'hidden' && isFolder(at))
  return ['/', ...hidden.map(({ at }) => at)].flatMap((at) => ['--remount-ro', at])
}

/** A top-level folder or link of the host, read-only. */
function shown(path: string): readonly string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isSymbolicLink() === true) return ['--symlink', readlinkSync(path), path]
  return stat?.isDirectory() === true ? ['--ro-bind-try', path, path] : []
}

function laid({ at, access, from = at }: Place): readonly string[] {
  if (access === 'read-write') return ['--bind', from, at]
  if (access === 'read-only') return ['--ro-bind', from, at]
  return isFolder(from) ? ['--tmpfs', at] : ['--ro-bind', '/dev/null', at]
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/**
 * The first mount point that cannot be made: below a folder of the host, which is shown read-only, only what
 * is there can be covered.
 */
export function impossiblePlace({ places, texts }: FilePolicy): string | undefined {
  const points = [...places, ...texts].map(({ at }) => at)
  return points.find((at) => {
    const top = join('/', at.split('/')[1] ?? '')
    return top !== '/tmp' && isThere(top) && !isThere(at)
  })
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
