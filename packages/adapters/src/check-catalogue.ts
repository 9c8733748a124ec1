import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { formatProblem } from '@agentproto/manifest'
import { type LoadedAgentCli, readAgentCli } from '@agentproto/manifest/node'
import { catalogPath } from './catalog-path.js'

/** An adapter without the place of its files, which differs from one installation to the next. */
export type CompiledAdapter = Omit<LoadedAgentCli, 'path' | 'directory'>

/**
 * Reads and checks every manifest of the catalogue.
 * @throws where one has a problem: the catalogue is ours
 */
export async function checkCatalogue(): Promise<Readonly<Record<string, CompiledAdapter>>> {
  const slugs = (await readdir(catalogPath)).sort()
  return Object.fromEntries(await Promise.all(slugs.map(async (slug) => [slug, await checkAdapter(slug)] as const)))
}

async function checkAdapter(slug: string): Promise<CompiledAdapter> {
  const result = await readAgentCli(join(catalogPath, slug))
  if (!result.ok) throw new Error(`The adapter ${slug} is not valid:\n${result.problems.map(formatProblem).join('\n')}`)
  const { manifest, acp, secrets, sandbox } = result
  return { manifest, sandbox, ...(acp === undefined ? {} : { acp }), ...(secrets === undefined ? {} : { secrets }) }
}
