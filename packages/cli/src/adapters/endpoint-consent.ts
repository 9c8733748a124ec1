import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { Endpoints } from '@agentproto/runtime'
import type { ConfigTree } from '../config/config-file.js'
import type { CliContext } from '../cli-context.js'
import { homeOf } from '../daemon/daemon-record.js'
import { withAudit } from '../home-audit.js'

const PATH = ['endpoints', 'private'] as const

/** Writes the owner's consent to an address into config.json. */
export async function addConsent(context: CliContext, adapter: string, place: string): Promise<void> {
  const entry = { action: 'config-set', key: PATH.join('.'), adapter, place }
  await withAudit(context, entry, () => changeConsents(context, (before) => [...before, place]))
}

/**
 * Takes the consents back that only a removed adapter needed.
 * @returns them, as they were written; one that another adapter of the home needs stays
 */
export async function dropConsents(
  context: CliContext,
  { slug, endpoint }: Required<Pick<AdapterSummary, 'slug' | 'endpoint'>>,
  endpoints: Pick<Endpoints, 'unneeded'>,
): Promise<readonly string[]> {
  const { readConfigFile } = await import('../config/config-file.js')
  const consents = await consentsIn(await readConfigFile(homeOf(context).config))
  const unneeded = new Set(await endpoints.unneeded(endpoint.url, consents))
  if (unneeded.size === 0) return []
  const places = [...unneeded]
  await withAudit(context, { action: 'config-unset', key: PATH.join('.'), adapter: slug, places }, () =>
    changeConsents(context, (before) => before.filter((place) => !unneeded.has(place))),
  )
  return places
}

async function changeConsents(
  context: CliContext,
  change: (before: readonly string[]) => readonly string[],
): Promise<void> {
  const { readConfigFile, withValue, writeConfigFile } = await import('../config/config-file.js')
  const { config } = homeOf(context)
  const tree = await readConfigFile(config)
  const after = change(await consentsIn(tree))
  await writeConfigFile(config, withValue(tree, PATH, after.length === 0 ? undefined : after))
}

async function consentsIn(tree: ConfigTree): Promise<readonly string[]> {
  const { valueAt } = await import('../config/config-file.js')
  const value = valueAt(tree, PATH)
  return Array.isArray(value) ? value.filter((place) => typeof place === 'string') : []
}
