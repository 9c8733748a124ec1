import { chmod, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Longest path that is removed where it is. Programs that go down step by step create longer ones than a path may be. */
const PATH_MAX = 1_000

/** How often it is tried. Node's `rm` rejects at its first failure, while the rest of its work goes on. */
const ROUNDS = 5

/**
 * Removes a folder and everything in it, also what its owner may not write, and what is too deep for a path. Follows no link.
 * No other process may still write to it.
 */
export async function removeFolder(folder: string): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      return await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    } catch (thrown) {
      if (round === ROUNDS) throw thrown
      await makeRemovable(folder)
    }
  }
}

async function makeRemovable(root: string): Promise<void> {
  const folders = [root]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) folders.push(...(await openUp(next, root)))
}

/** Lets its owner write to a folder, nearer to the root if it is too deep. Returns the folders in it. */
async function openUp(folder: string, root: string): Promise<readonly string[]> {
  try {
    const at = folder.length > PATH_MAX ? join(root, `.moved-${crypto.randomUUID()}`) : folder
    if (at !== folder) await rename(folder, at)
    await chmod(at, 0o700)
    const entries = await readdir(at, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [join(at, entry.name)] : []))
  } catch {
    // Removed meanwhile. Anything else fails again in the next round.
    return []
  }
}
