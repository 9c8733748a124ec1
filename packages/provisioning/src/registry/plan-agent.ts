import { type Distribution, type EntrySource, type RegistryEntry, variablesOf } from '@agentproto/acp-registry'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AgentPlan, AgentWish } from '@agentproto/contracts/wire'
import type { AgentCliManifest } from '@agentproto/manifest'
import type { LoadedAdapter } from '../catalog/manifest-catalog.js'
import { lookUpNpm, type NpmPackage } from '../npm-package.js'
import type { ProvisionHost } from '../provision-host.js'
import { type AdapterTarget, adapterTarget } from './adapter-target.js'
import { downloadBytes } from './download-bytes.js'
import { isEdited } from './edited-adapter.js'
import { findEntry } from './find-entry.js'
import { heldSha256 } from './held-downloads.js'
import { nameOf, npmMethod } from './npm-method.js'
import { originOf } from './origin.js'
import { readAgents } from './read-agents.js'
import type { Adding } from './adding.js'
import type { ReadChoice } from './registry-parts.js'
import { installPlace, requireWay } from './way-here.js'

/** An entry of the registry that becomes an adapter. */
export interface PlannedEntry {
  readonly kind: 'entry'
  readonly plan: AgentPlan
  readonly entry: RegistryEntry
  readonly source: EntrySource
  readonly target: AdapterTarget
  /** With the version that is wished for. */
  readonly distribution: Distribution
  /** What is known of its npm package. */
  readonly npm?: NpmPackage
}

/** An adapter that is there, whose agent is installed. */
export interface PlannedOwn {
  readonly kind: 'own'
  readonly plan: AgentPlan
  readonly adapter: LoadedAdapter
  /** Of its npm package, in place of the one that its manifest names. */
  readonly version?: string
}

export type PlannedAgent = PlannedEntry | PlannedOwn

/**
 * What adding an agent of the registry would install. Nothing is installed.
 * @throws `adapter_not_found`, `adapter_exists`, `install_failed`, `registry_unavailable`, `registry_invalid`, `path_invalid`, `cancelled`
 */
export async function planAgent(
  id: string,
  { version, slug, ...choice }: AgentWish & ReadChoice,
  { parts, signal }: Pick<Adding, 'parts' | 'signal'>,
): Promise<PlannedAgent> {
  const read = await readAgents(choice, parts, signal)
  const entry = findEntry(id, read)
  const target = await adapterTarget(id, slug, parts)
  const { host } = parts
  if (target.own !== undefined) return planOwn(entry, target.own, { version, host, signal })
  const distribution = atVersion(requireWay(entry, await installPlace(host)), { version, entry })
  const npm =
    distribution.way === 'npx'
      ? await npmPackage(distribution, { host, signal, isWish: version !== undefined })
      : undefined
  const plan = {
    ...factsOf(entry),
    slug: target.slug,
    ...(await installFacts(distribution, npm, { host, signal })),
    args: distribution.args,
    variables: variablesOf(distribution),
    ...defined({ sha256: await knownSha256(distribution, target, host), replaces: await replacedBy(target) }),
  }
  return { kind: 'entry', plan, entry, source: read.source, target, distribution, ...defined({ npm }) }
}

function factsOf({ id, name, description, version, license, authors, website, repository }: RegistryEntry) {
  return {
    registryId: id,
    name,
    description,
    version,
    authors,
    ...defined({ license, homepage: website ?? repository }),
  }
}

interface Asking {
  readonly host: ProvisionHost
  readonly signal: AbortSignal
}

/**
 * What installing the agent of an adapter that is there would install.
 * @param asking its `version` is that of its npm package; default the one that its manifest names
 */
export async function planOwn(
  entry: RegistryEntry,
  adapter: LoadedAdapter,
  { version, host, signal }: Asking & { readonly version?: string | undefined },
): Promise<PlannedOwn> {
  const { id: slug, install } = adapter.manifest
  const { tested } = originOf(adapter.manifest)
  const plan = { ...factsOf(entry), slug, catalogue: { slug, ...defined({ tested }) } }
  const npm = npmMethod(install)
  if (version === undefined || npm === undefined)
    return { kind: 'own', plan: { ...plan, ...defined({ package: npm?.package }) }, adapter, ...defined({ version }) }
  const name = nameOf(npm.package)
  const found = await npmPackage(
    { way: 'npx', name, version, program: adapter.manifest.bin, args: [], env: {} },
    { host, signal, isWish: true },
  )
  return { kind: 'own', plan: { ...plan, ...npmFacts(found) }, adapter, version }
}

interface VersionWish {
  readonly version: string | undefined
  readonly entry: RegistryEntry
}

/** @throws `install_failed` for another version of a file: only the entry says where that is */
function atVersion(distribution: Distribution, { version, entry }: VersionWish): Distribution {
  if (version === undefined || version === entry.version) return distribution
  if (distribution.way === 'binary')
    throw new AgentprotoError('install_failed', `The registry has no other version of ${entry.name} than its newest`, {
      expected: entry.version,
      given: version,
      hint: `Add that one with: agentproto adapters add acp:${entry.id}`,
    })
  const { wanted: _wanted, ...rest } = distribution
  return { ...rest, version }
}

/** @throws `install_failed` without such a package, and for a version that the user wishes for and that is not there */
async function npmPackage(
  { name, version, wanted, program }: Extract<Distribution, { way: 'npx' }>,
  { host, signal, isWish }: Asking & { readonly isWish: boolean },
): Promise<NpmPackage> {
  const npm = await lookUpNpm({ name, signal, ...defined({ version, wanted }) }, host)
  if (isWish && npm.missing !== undefined)
    throw new AgentprotoError('install_failed', `npm has no version ${npm.missing} of ${name}`, {
      expected: `another version, such as ${npm.version}`,
    })
  if (program === undefined && npm.program === undefined)
    throw new AgentprotoError('install_failed', `Which program of ${name} is the agent is not known`, {
      expected: 'a package with one program, or an entry that names it in `cmd`',
      given: npm.programs.join(', ') || 'no program',
      hint: 'Write an adapter that names it: agentproto manifest init <path>',
    })
  return npm
}

async function installFacts(
  distribution: Distribution,
  npm: NpmPackage | undefined,
  { host, signal }: Asking,
): Promise<Pick<AgentPlan, 'way'> & Partial<AgentPlan>> {
  const { way } = distribution
  if (distribution.way === 'binary') {
    const { url } = distribution
    return { way, url, ...defined({ bytes: await downloadBytes(distribution, host, signal) }) }
  }
  if (distribution.way === 'uvx') {
    const { name, version, wanted = '' } = distribution
    return { way, package: version === undefined ? `${name}${wanted}` : `${name}==${version}` }
  }
  return npm === undefined ? { way } : { way, ...npmFacts(npm) }
}

const npmFacts = ({ name, version, hasInstallScripts, unpackedBytes, missing, deprecated }: NpmPackage) => ({
  package: `${name}@${version}`,
  installScripts: hasInstallScripts,
  ...defined({ bytes: unpackedBytes, missing, deprecated }),
})

/** Of the entry; else that of the manifest, which its owner may have edited; else that of the file which the address had first. */
async function knownSha256(
  distribution: Distribution,
  { replaces }: AdapterTarget,
  host: ProvisionHost,
): Promise<string | undefined> {
  if (distribution.way !== 'binary') return undefined
  const { url, sha256 } = distribution
  return sha256 ?? writtenSha256(url, replaces?.manifest) ?? (await heldSha256(url, host))
}

function writtenSha256(url: string, manifest: AgentCliManifest | undefined): string | undefined {
  const method = manifest?.install.find((each) => each.method === 'download' && each.url === url)
  return method?.method === 'download' ? method.verifySha256 : undefined
}

async function replacedBy({ replaces }: AdapterTarget): Promise<AgentPlan['replaces']> {
  if (replaces === undefined) return undefined
  const version = originOf(replaces.manifest).entry?.version
  return { edited: await isEdited(replaces), ...defined({ version }) }
}
