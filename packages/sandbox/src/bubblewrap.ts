import { execFile } from 'node:child_process'
import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findExecutable } from '@agentproto/subprocess'
import type { FilePolicy, Place } from './file-policy.js'

/** What programs need to run where only named folders are visible. */
const SYSTEM = new Set(['bin', 'etc', 'lib', 'lib32', 'lib64', 'libx32', 'nix', 'opt', 'sbin', 'sys', 'usr', 'var'])
/** Created inside the sandbox. /run contains sockets of daemons that would run commands outside of it. */
const OWN = new Set(['dev', 'proc', 'run', 'tmp'])

const PROBE_MS = 10_000

/** Own namespaces and no capabilities: even root can neither see nor signal what is outside. */
const ISOLATION = [
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
  /** Absent when it does not work on this host. */
  readonly file?: string
  readonly reason?: string
}

/** Finds bubblewrap and tries it: containers and hardened kernels often do not permit it. */
export async function findBubblewrap(path: string): Promise<Bubblewrap> {
  if (process.platform !== 'linux') return { reason: `bubblewrap needs Linux, and this is ${process.platform}` }
  const file = await findExecutable('bwrap', { path })
  if (file === undefined) return { reason: 'bubblewrap (bwrap) is not installed' }
  const failure = await probe(file)
  return failure === undefined ? { file } : { reason: `bubblewrap does not work here: ${failure}` }
}

function probe(file: string): Promise<string | undefined> {
  const args = [...ISOLATION, '--ro-bind', '/', '/', ...FRESH, '--', process.execPath, '--version']
  return new Promise((resolve) => {
    execFile(file, args, { timeout: PROBE_MS, env: {} }, (error, _stdout, stderr) => {
      resolve(error === null ? undefined : (stderr.trim().split('\n').at(-1) ?? '').slice(0, 300) || error.message)
    })
  })
}

export interface Confinement {
  /** Absent: the host's files are visible as they are. */
  readonly files?: FilePolicy
  /** Files with the profile's texts, and sockets: mounted last. */
  readonly extras: readonly { readonly from: string; readonly at: string }[]
  readonly cwd: string
}

/** The arguments before the command. */
export function bubblewrapArgs({ files, extras, cwd }: Confinement): readonly string[] {
  const base = files === undefined ? ['--bind', '/', '/', ...FRESH] : confinedBase(files)
  const mountedLast = extras.flatMap(({ from, at }) => ['--ro-bind', from, at])
  return [...ISOLATION, ...base, ...mountedLast, '--dir', cwd, ...remountReadOnly(files), '--chdir', cwd, '--']
}

function confinedBase(files: FilePolicy): readonly string[] {
  const top = readdirSync('/').filter((name) => !OWN.has(name) && (!files.closed || SYSTEM.has(name)))
  const topMounts = top.flatMap((name) => topMount(join('/', name)))
  return ['--tmpfs', '/', ...topMounts, ...FRESH, '--tmpfs', '/tmp', ...files.places.flatMap(mountOf)]
}

/** The root and the file systems that hide folders are ours: writable until every mount point exists. */
function remountReadOnly(files: FilePolicy | undefined): readonly string[] {
  if (files === undefined) return []
  const hidden = files.places.filter(({ at, access }) => access === 'hidden' && isFolder(at))
  return ['/', ...hidden.map(({ at }) => at)].flatMap((at) => ['--remount-ro', at])
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

/**
 * The first mount point that cannot be created: a folder of the host is mounted read-only, so that only paths that
 * exist in it can be covered.
 */
export function impossiblePlace({ places, texts }: FilePolicy): string | undefined {
  const points = [...places, ...texts].map(({ at }) => at)
  return points.find((at) => {
    const top = join('/', at.split('/')[1] ?? '')
    return top !== '/tmp' && pathExists(top) && !pathExists(at)
  })
}

const pathExists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
