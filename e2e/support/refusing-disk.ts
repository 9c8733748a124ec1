import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A home whose disk can refuse writes, as real disks do. Where a user can mount, it is a mount: a small tmpfs that
 * fills up, or a read-only one. Elsewhere the files of the gateway may not grow (ulimit), or the home is where
 * no one can write: the same refusal with another error.
 */
export interface RefusingDisk {
  /** The program that starts the gateway. */
  readonly through: readonly string[]
  /** The text of its errors. */
  readonly says: RegExp
  /** Further variables of the gateway. */
  readonly env: Readonly<Record<string, string>>
  /** From now on every write fails. */
  refuse(pid: number): void
  /** Writes work again. */
  take(pid: number): void
}

const ran = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0

const MOUNTS =
  ran('unshare', '-rm', 'sh', '-c', 'mount -t tmpfs none /tmp && mount -o remount,ro /tmp') &&
  ran('nsenter', '--version')

/** Runs the rest of its arguments in a new mount namespace, after a script that mounts. */
const mounted = (script: string, home: string): readonly string[] => [
  'unshare',
  '-rm',
  'sh',
  '-ec',
  `home=$1; shift; mkdir -p "$home"; ${script}; exec "$@"`,
  'sh',
  home,
]

/** A disk of 4 MiB that can be filled. */
export function smallDisk(home: string): RefusingDisk {
  if (!MOUNTS) return limitedFiles()
  const filler = (pid: number): string => join(`/proc/${pid}/root`, home, 'filler')
  return {
    through: mounted('mount -t tmpfs -o size=4m,mode=0700 none "$home"', home),
    says: /ENOSPC/,
    env: {},
    refuse: (pid) => fill(filler(pid)),
    take: (pid) => rmSync(filler(pid)),
  }
}

/** A home that is read-only from the start. */
export function readOnlyDisk(home: string): RefusingDisk {
  const never = (): void => {
    throw new Error('It does not change')
  }
  if (!MOUNTS) {
    writeFileSync(home, '')
    return { through: [], says: /ENOTDIR/, env: { AGENTPROTO_HOME: join(home, 'below') }, refuse: never, take: never }
  }
  const script = 'mount -t tmpfs none "$home"; mount -o remount,ro "$home"'
  return { through: mounted(script, home), says: /EROFS/, env: {}, refuse: never, take: never }
}

/** A home whose sessions become read-only, like a mount with a disk error. */
export function turningReadOnly(home: string): RefusingDisk {
  if (!MOUNTS) return limitedFiles()
  const sessions = join(home, 'sessions')
  const aside = `${home}-aside`
  const within = (pid: number, script: string): void => {
    const args = ['-t', String(pid), '-U', '-m', '--preserve-credentials', 'sh', '-ec', script, 'sh', sessions, aside]
    const { status, stderr } = spawnSync('nsenter', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`nsenter failed: ${stderr}`)
  }
  return {
    through: mounted(':', home),
    says: /EROFS/,
    env: {},
    // Mounted elsewhere first: a mount that is being written to does not become read-only.
    refuse: (pid) =>
      within(pid, 'mkdir "$2"; mount --bind "$1" "$2"; mount -o remount,bind,ro "$2"; mount --bind "$2" "$1"'),
    take: (pid) => within(pid, 'umount "$1"'),
  }
}

function limitedFiles(): RefusingDisk {
  const limit = (pid: number, bytes: string): void => {
    if (!ran('prlimit', '--pid', String(pid), `--fsize=${bytes}:unlimited`)) throw new Error('prlimit failed')
  }
  return {
    through: [],
    says: /EFBIG/,
    env: {},
    refuse: (pid) => limit(pid, '0'),
    take: (pid) => limit(pid, 'unlimited'),
  }
}

function fill(path: string): void {
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4_096)
  try {
    for (;;) writeSync(file, page)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}
