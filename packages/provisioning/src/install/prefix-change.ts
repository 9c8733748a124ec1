import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { findInPrefix, programFolders, removeFolder as remove } from '@agentproto/driver-agent-cli/installation'
import type { Installing } from './installing.js'

/**
 * Fills a new folder and replaces the agent's prefix with it atomically: a failed upgrade leaves the old agent unchanged,
 * and a session that starts meanwhile finds the old or the new one.
 */
export async function changePrefix(installing: Installing, fill: (folder: string) => Promise<void>): Promise<void> {
  const staging = siblingOf(installing.prefix, 'new')
  try {
    await mkdir(staging, { mode: 0o700 })
    await fill(staging)
    await checkFilled(staging, installing)
    await putInPlace(staging, installing.prefix)
  } finally {
    await remove(staging)
  }
}

/** The same for installs that cannot be moved later; the old agent is restored after a failure. */
export async function changePrefixInPlace(
  installing: Installing,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const { prefix } = installing
  const old = siblingOf(prefix, 'old')
  const hadOne = await moved(prefix, old)
  try {
    await mkdir(prefix, { mode: 0o700 })
    await fill(prefix)
    await checkFilled(prefix, installing)
  } catch (thrown) {
    await remove(prefix)
    if (hadOne) await rename(old, prefix)
    throw thrown
  }
  await remove(old)
}

/** Removes the leftovers of a killed install. Only under the ledger's lock. */
export async function clearLeftovers(prefix: string): Promise<void> {
  const [folder, name] = [dirname(prefix), basename(prefix)]
  const entries = await readdir(folder).catch((): string[] => [])
  // A prefix that was moved aside and not replaced is the only copy.
  // The whole name: those of other agents may begin with it.
  const stale = entries.filter((entry) => LEFTOVER.exec(entry)?.[1] === name)
  const old = stale.find((entry) => entry.startsWith('.old-'))
  if (old !== undefined && !entries.includes(name)) await rename(join(folder, old), prefix)
  for (const entry of stale) await remove(join(folder, entry))
}

const LEFTOVER = /^\.(?:new|old|tmp)-(.+)-[0-9a-f]{8}$/

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
  const old = siblingOf(prefix, 'old')
  const hadOne = await moved(prefix, old)
  await rename(staging, prefix)
  // Running agents keep their open files.
  if (hadOne) await remove(old)
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
