import type { AdapterService } from '@agentproto/contracts/wire'
import type { ConfigTree } from '../config/config-file.js'
import type { CliContext } from '../cli-context.js'
import { homeOf } from '../daemon/daemon-record.js'
import { withAudit } from '../home-audit.js'

/** What is said of an adapter that was removed. */
export type AdapterRemoved = Awaited<ReturnType<AdapterService['remove']>>

const PATH = ['endpoints', 'private'] as const

/** Writes the owner's consent to an address into config.json. */
export async function addConsent(context: CliContext, adapter: string, place: string): Promise<void> {
  const entry = { action: 'config-set', key: PATH.join('.'), adapter, place }
  await withAudit(context, entry, () => changeConsents(context, (before) => [...before, place]))
}

/**
 * Takes the consents back that only a removed adapter needed.
 * @returns those that were in config.json; others are of the program that runs the gateway
 */
export async function dropConsents(
  context: CliContext,
  { slug, consentsLeft = [] }: AdapterRemoved,
): Promise<readonly string[]> {
  const { readConfigFile } = await import('../config/config-file.js')
  const consents = await consentsIn(await readConfigFile(homeOf(context).config))
  const places = consents.filter((place) => consentsLeft.includes(place))
  if (places.length === 0) return []
  await withAudit(context, { action: 'config-unset', key: PATH.join('.'), adapter: slug, places }, () =>
    changeConsents(context, (before) => before.filter((place) => !places.includes(place))),
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
