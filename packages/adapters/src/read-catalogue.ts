import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { catalogPath } from './catalog-path.js'
import type { CompiledAdapter } from './check-catalogue.js'

/**
 * The adapters of the catalogue by slug, checked. They are read from `catalogue.json`, which the build writes, so that
 * no caller parses seventy files; in a clone that was not built, from the manifests themselves.
 */
export async function readCatalogue(): Promise<ReadonlyMap<string, LoadedAgentCli>> {
  const text = await readFile(new URL('catalogue.json', import.meta.url), 'utf8').catch(() => undefined)
  const adapters =
    text === undefined ? await checkAll() : (JSON.parse(text) as Readonly<Record<string, CompiledAdapter>>)
  return new Map(Object.entries(adapters).map(([slug, adapter]) => [slug, { ...adapter, ...placeOf(slug) }]))
}

const checkAll = async (): Promise<Readonly<Record<string, CompiledAdapter>>> =>
  (await import('./check-catalogue.js')).checkCatalogue()

function placeOf(slug: string): Pick<LoadedAgentCli, 'path' | 'directory'> {
  const directory = join(catalogPath, slug)
  return { path: join(directory, 'AGENT-CLI.md'), directory }
}
