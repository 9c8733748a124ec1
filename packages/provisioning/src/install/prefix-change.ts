import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import {
  findInPrefix,
  makeOwned,
  OWNER,
  own,
  ownerOf,
  programFolders,
  removeFolder as remove,
  removeOwned,
} from '@agentproto/driver-agent-cli/installation'
import type { Installing } from './installing.js'

/**
 * Fills a new folder and replaces the agent's prefix with it atomically: a failed upgrade leaves the old agent unchanged,
 * and a session that starts meanwhile finds the old or the new one.
 */
export async function changePrefix(installing: Installing, fill: (folder: string) => Promise<void>): Promise<void> {
  const staging = siblingOf(installing.prefix, 'new')
  try {
    await makeOwned(staging, installing.host.installMarker)
    await fill(staging)
    await checkFilled(staging, installing)
    await putInPlace(staging, installing.prefix)
  } finally {
    await removeOwned(staging)
  }
}

/** The same for installs that cannot be moved later; the old agent is restored after a failure. */
export async function changePrefixInPlace(
  installing: Installing,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const { prefix } = installing
  const old = await putAside(prefix)
  try {
    await mkdir(prefix, { mode: 0o700 })
    await fill(prefix)
    await checkFilled(prefix, installing)
  } catch (thrown) {
    await bringBack(old, prefix)
    throw thrown
  }
  await discard(old)
}

/**
 * Moves what is at a path aside, until it is discarded or brought back. That of a process which was killed in between is brought back
 * in its place, whatever has come there: it was not finished.
 * @returns where it is; undefined if there was nothing
 */
export async function putAside(path: string): Promise<string | undefined> {
  const old = siblingOf(path, 'old')
  await own(old)
  if (await moved(path, old)) return old
  await removeOwned(old)
  return undefined
}

/** Brings back what was put aside, in place of what is there; without it, what is there is removed. */
export async function bringBack(old: string | undefined, path: string): Promise<void> {
  await remove(path)
  if (old === undefined) return
  await rename(old, path)
  await removeOwned(old)
}

/** Removes what was put aside. First under another name: half of it must never come back. */
export async function discard(old: string | undefined): Promise<void> {
  if (old === undefined) return
  const gone = join(dirname(old), basename(old).replace(/^\.old-/, '.tmp-'))
  await own(gone)
  await rename(old, gone)
  await removeOwned(old)
  await removeOwned(gone)
}

/** Removes the leftovers of a killed install, but for those of a process that still lives. Only under the ledger's lock. */
export async function clearLeftovers(prefix: string): Promise<void> {
  const folder = dirname(prefix)
  const entries = await readdir(folder).catch((): string[] => [])
  // The whole name: those of other agents may begin with it.
  const names = entries.filter((entry) => leftoverOf(entry)?.slug === basename(prefix) && !entry.endsWith(OWNER))
  const left = names.filter((entry) => ownerOf(join(folder, entry)).is !== 'living')
  const old = left.find((entry) => entry.startsWith('.old-'))
  // One that was moved aside and not replaced is the only copy. That of a killed process whose name is known was not finished.
  const isBack = old !== undefined && (ownerOf(join(folder, old)).is === 'ended' || !entries.includes(basename(prefix)))
  if (isBack) await bringBack(join(folder, old), prefix)
  for (const entry of left) await removeOwned(join(folder, entry))
}

/** What the name of a folder beside a prefix says: of which agent it is, and whether it is the one that was put aside. */
export function leftoverOf(entry: string): { readonly slug: string; readonly isOld: boolean } | undefined {
  const [, kind, slug] = LEFTOVER.exec(entry) ?? []
  return slug === undefined ? undefined : { slug, isOld: kind === 'old' }
}

const LEFTOVER = /^\.(new|old|tmp)-(.+)-[0-9a-f]{8}(?:\.owner)?$/

/** A folder beside the prefix, on the same file system, for its owner alone. */
export const siblingOf = (prefix: string, kind: 'new' | 'old' | 'tmp'): string =>
  join(dirname(prefix), `.${kind}-${basename(prefix)}-${randomBytes(4).toString('hex')}`)

async function checkFilled(folder: string, { manifest }: Installing): Promise<void> {
  if ((await findInPrefix(manifest, folder)) !== undefined) return
  const programs = await Promise.all(programFolders(folder).map((each) => readdir(each).catch((): string[] => [])))
  throw new AgentprotoError('install_failed', `The package has no program called ${manifest.bin}`, {
    given: programs.flat().join(', ') || 'no program at all',
  })
}

async function putInPlace(staging: string, prefix: string): Promise<void> {
  const old = await putAside(prefix)
  await rename(staging, prefix)
  // Running agents keep their open files.
  await discard(old)
}

/** Whether there was something to move. */
export async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return false
    throw thrown
  }
}
