import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readAgentCli } from '@agentproto/manifest/node'
import { ADAPTER_SLUG } from './adapter-slug.js'

/**
 * The folder of an adapter among the adapters of the owner, by the adapter's id; one whose manifest is not valid has the name of
 * its folder.
 * @param except a folder that does not count
 */
export async function adapterFolder(adapters: string, slug: string, except?: string): Promise<string | undefined> {
  const names = await readdir(adapters).catch(() => [])
  const folders = names.filter((name) => ADAPTER_SLUG.test(name)).map((name) => ({ name, path: join(adapters, name) }))
  // The folder of that name first: where two have the id, it is the one that counts.
  const ordered = folders.toSorted((a, b) => Number(b.name === slug) - Number(a.name === slug))
  for (const { name, path } of ordered) {
    if (path === except) continue
    const read = await readAgentCli(path)
    if ((read.ok ? read.manifest.id : name) === slug) return path
  }
  return undefined
}
