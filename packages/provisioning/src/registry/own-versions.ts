import type { RegistryEntry } from '@agentproto/acp-registry'
import { defined } from '@agentproto/contracts'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import compare from 'semver/functions/compare.js'
import valid from 'semver/functions/valid.js'
import { adapterState } from '../adapter-state.js'
import { readRecord } from '../agent-record.js'
import type { ProvisionHost } from '../provision-host.js'
import { nameOf, npmMethod } from './npm-method.js'

/** The version of an agent here, and that of the registry. */
export interface OwnVersions {
  readonly installed?: string
  readonly available: string
}

/** Of an adapter that was not written from the entry: their packages may differ. */
export async function ownVersions(
  entry: RegistryEntry,
  adapter: LoadedAgentCli,
  host: ProvisionHost,
): Promise<OwnVersions> {
  const { version, installed } = await adapterState(await readRecord(adapter, host))
  const known = version ?? pinned(npmMethod(adapter.manifest.install)?.package ?? '')
  return { available: availableOf(entry, adapter), ...defined({ installed: installed ? known : undefined }) }
}

/** Whether the registry has a newer one. Versions that cannot be compared are not newer. */
export const isNewer = ({ installed, available }: OwnVersions): boolean =>
  valid(installed) !== null && valid(available) !== null && compare(available, installed ?? '') > 0

/** Whether the registry has an older one: it was set back, or an old document was put in its place. */
export const isOlder = ({ installed, available }: OwnVersions): boolean =>
  valid(installed) !== null && valid(available) !== null && compare(available, installed ?? '') < 0

/** The pin of the same package counts; the version of the entry may be another. */
function availableOf({ version, distribution }: RegistryEntry, { manifest }: LoadedAgentCli): string {
  const name = nameOf(npmMethod(manifest.install)?.package ?? '')
  const wanted = distribution.npx?.package ?? ''
  return nameOf(wanted) === name ? (pinned(wanted) ?? version) : version
}

const pinned = (npmPackage: string): string | undefined =>
  valid(npmPackage.slice(nameOf(npmPackage).length + 1)) ?? undefined
