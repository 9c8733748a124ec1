import type { RegistryEntry } from '@agentproto/acp-registry'
import { AgentprotoError } from '@agentproto/contracts'
import type { UpdateAgentRequest } from '@agentproto/contracts/wire'
import { addEntry } from './add-agent.js'
import type { Adding } from './adding.js'
import { findEntry } from './find-entry.js'
import { installOwn } from './install-own.js'
import { originOf } from './origin.js'
import { isNewer, isOlder, ownVersions } from './own-versions.js'
import { planAgent, planOwn } from './plan-agent.js'
import { readAgents } from './read-agents.js'

/**
 * Replaces an agent by the one of the registry, after that has passed its checks.
 * @throws `adapter_not_found` for an adapter without an entry, `adapter_edited`, and what adding throws
 */
export async function updateAgent(
  slug: string,
  { replaceEdited, ...trust }: Omit<UpdateAgentRequest, 'signal'>,
  adding: Adding,
): Promise<string> {
  const { parts, emit, signal } = adding
  const adapter = await parts.catalog.adapter(slug)
  const { entry: written, registryId } = originOf(adapter.manifest)
  const id = written?.id ?? registryId
  if (id === undefined) throw notOfTheRegistry(slug)
  const read = await readAgents({ from: written?.file }, parts, signal)
  const entry = findEntry(id, read)
  if (written === undefined) {
    const versions = await ownVersions(entry, adapter, parts.host)
    const version = isNewer(versions) ? versions.available : undefined
    const planned = await planOwn(entry, adapter, { version, host: parts.host, signal })
    emit({ type: 'plan', plan: planned.plan })
    if (version === undefined)
      emit({
        type: 'phase',
        phase: 'install',
        state: 'skipped',
        detail: versions.installed === undefined ? NOT_INSTALLED : UP_TO_DATE,
      })
    else await installOwn(planned, trust, adding)
    return slug
  }
  const planned = await planAgent(id, { slug, from: written.file }, adding)
  emit({ type: 'plan', plan: planned.plan })
  const skipped = (detail: string): void => emit({ type: 'phase', phase: 'install', state: 'skipped', detail })
  if (entry.sha256 === written.sha256) skipped(UP_TO_DATE)
  else if (isOlder({ installed: written.version, available: entry.version })) skipped(olderThan(written, entry))
  else if (planned.kind === 'entry') await addEntry(planned, { ...trust, replaceEdited }, adding)
  return slug
}

const UP_TO_DATE = 'it is up to date'
const NOT_INSTALLED = 'it is not installed'

/** Versions have faults that newer ones do not have: going back is for a person to decide. */
const olderThan = ({ version }: Pick<RegistryEntry, 'version'>, { id, version: older }: RegistryEntry): string =>
  `the registry has ${older}, which is older than ${version}; for that: agentproto adapters add acp:${id}@${older}`

const notOfTheRegistry = (slug: string): AgentprotoError =>
  new AgentprotoError('adapter_not_found', `The registry has no agent for the adapter ${slug}`, {
    given: slug,
    expected: 'an adapter that was added from the registry, or one of the catalogue whose agent is in it',
    hint: `To install what its manifest names again: agentproto adapters install ${slug} --force`,
  })
