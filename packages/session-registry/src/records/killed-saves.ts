import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

// A file is saved beside its place and then renamed. A host that is killed between leaves the first one.

/**
 * Removes what killed saves of a file left beside it: its name, then only numbers. Nothing else may save the file meanwhile.
 * What cannot be removed stays: it is in no one's way.
 */
export function removeKilledSaves(path: string): void {
  const prefix = `${basename(path)}.`
  try {
    for (const name of readdirSync(dirname(path)))
      if (name.startsWith(prefix) && /^\d+(-\d+)?$/.test(name.slice(prefix.length)))
        rmSync(join(dirname(path), name), { force: true })
  } catch {
    // The folder is gone, or may not be changed: saving says so.
  }
}
