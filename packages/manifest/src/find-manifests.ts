import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Dirent } from 'node:fs'
import { manifestNameOf } from './manifest-name.js'

const FILES_MAX = 20_000
const DEPTH_MAX = 12

/**
 * The manifests in a folder and below it, in the order of their paths. Skips `node_modules`, hidden folders except
 * `.agentproto`, and symbolic links, which may lead anywhere.
 * @returns `undefined` when the path is not a readable folder
 */
export async function findManifests(folder: string): Promise<readonly string[] | undefined> {
  const found: string[] = []
  const walk = async (path: string, depth: number): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      if (depth === 0) throw error
      // An unreadable folder below counts as empty.
      return []
    })
    for (const entry of entries.toSorted(byName)) {
      if (found.length >= FILES_MAX) return
      if (entry.isFile() && manifestNameOf(entry.name) !== undefined) found.push(join(path, entry.name))
      if (depth < DEPTH_MAX && isSearched(entry)) await walk(join(path, entry.name), depth + 1)
    }
  }
  try {
    await walk(folder, 0)
    return found
  } catch {
    return undefined
  }
}

const isSearched = (entry: Dirent): boolean =>
  entry.isDirectory() && entry.name !== 'node_modules' && (!entry.name.startsWith('.') || entry.name === '.agentproto')

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1)
