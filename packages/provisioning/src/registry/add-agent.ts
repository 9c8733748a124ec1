import { manifestOf, type ManifestOptions } from '@agentproto/acp-registry'
import { AgentprotoError, type Clock, defined, systemClock } from '@agentproto/contracts'
import type { AddAgentRequest } from '@agentproto/contracts/wire'
import { launchHints } from '@agentproto/driver-agent-cli/installation'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { addAdapterFiles } from '../add-adapter-files.js'
import { installAgent } from '../install/install-agent.js'
import { ledgerFile } from '../ledger.js'
import type { ProvisionHost } from '../provision-host.js'
import { asChanged } from './held-downloads.js'
import { nameOf, npmMethod } from './npm-method.js'
import { type PlannedEntry, planAgent } from './plan-agent.js'
import { putInPlace } from './put-in-place.js'
import type { ReadChoice } from './registry-parts.js'
import type { Adding, AgentTrust } from './adding.js'
import { installOwn } from './install-own.js'
import { Trial, type TrialOptions } from './trial.js'

/**
 * Adds an agent of the registry: from its entry to an adapter whose agent was installed and has shaken hands. A failure leaves what
 * was there before.
 */
export async function addAgent(
  id: string,
  { version, slug, from, ...trust }: Omit<AddAgentRequest, 'signal'> & ReadChoice,
  adding: Adding,
): Promise<string> {
  const planned = await planAgent(id, { version, slug, from }, adding)
  const { plan } = planned
  adding.emit({ type: 'plan', plan })
  if (planned.kind === 'own') await installOwn(planned, trust, adding)
  else await addEntry(planned, trust, adding)
  return plan.slug
}

/** Installs and measures an entry, and makes it an adapter. @throws `adapter_edited`, and what a trial throws */
export async function addEntry(planned: PlannedEntry, trust: AgentTrust, adding: Adding): Promise<void> {
  const { plan } = planned
  if (plan.replaces?.edited === true && trust.replaceEdited !== true) throw edited(plan.slug)
  const sha256 = wantedSha256(planned, trust)
  const { emit, signal } = adding
  const { host } = adding.parts
  const { allowUnverified = false, force = false } = trust
  if (planned.distribution.way === 'binary' && sha256 === undefined && !allowUnverified)
    throw unverified(planned.distribution.url)
  const facts = manifestFacts(planned, trust, { clock: host.clock, sha256 })
  const skipsScripts = plan.installScripts === true && facts.allowScripts !== true
  const options: TrialOptions = { slug: plan.slug, host, allowUnverified, force, skipsScripts, emit, signal }
  await ledgerFile(plan.slug, host).locked(() =>
    Trial.run(options, async (trial) => {
      const write = (more: Partial<ManifestOptions> = {}) =>
        manifestOf(planned.entry, planned.distribution, { ...facts, ...more })
      const adapter = await addAdapterFiles(write(), trial.host, signal)
      const downloaded = await trial.install(adapter).catch(async (thrown: unknown) => {
        throw await explained(thrown, { planned, trust, host })
      })
      const observed = await trial.observe(adapter)
      const files = write({ observed, ...defined({ sha256: downloaded ?? sha256 }) })
      await putInPlace({
        trial,
        host,
        manifest: adapter.manifest,
        ...(canMove(planned) ? {} : { fill: () => installAgain(adapter, options) }),
        commit: () => addAdapterFiles(files, host, signal),
      })
    }),
  )
}

interface Refusing {
  readonly planned: PlannedEntry
  readonly trust: AgentTrust
  readonly host: ProvisionHost
}

/** Why it was not installed. A checksum that the user or the entry gave is not one that is held. */
async function explained(thrown: unknown, { planned: { distribution }, trust, host }: Refusing): Promise<unknown> {
  const isGiven = trust.sha256 !== undefined || (distribution.way === 'binary' && distribution.sha256 !== undefined)
  return isGiven || distribution.way !== 'binary' ? thrown : asChanged(thrown, distribution.url, host)
}

/** @param sha256 that the download must have */
function manifestFacts(
  { plan, source, npm, target }: PlannedEntry,
  { allowScripts }: AgentTrust,
  { clock = systemClock, sha256 }: { readonly clock?: Clock | undefined; readonly sha256: string | undefined },
): ManifestOptions {
  return {
    slug: plan.slug,
    source,
    addedAt: clock.now(),
    allowScripts: allowScripts ?? ranBefore(npm, target),
    ...defined({ sha256, program: npm?.program, version: npm?.version }),
  }
}

/** Scripts that were allowed once stay allowed for the updates of the same package, and for no other that an entry names later. */
function ranBefore(npm: PlannedEntry['npm'], { replaces }: PlannedEntry['target']): boolean {
  if (npm === undefined || replaces === undefined) return false
  const { manifest } = replaces
  const before = npmMethod(manifest.install)?.package
  return before !== undefined && nameOf(before) === npm.name && launchHints(manifest).installScripts === 'run'
}

/** Files of Python name the folder that they are in. */
const canMove = ({ distribution }: PlannedEntry): boolean => distribution.way !== 'uvx'

async function installAgain({ manifest, directory }: LoadedAgentCli, options: TrialOptions): Promise<void> {
  const { host, allowUnverified, signal, emit } = options
  await installAgent({
    manifest,
    directory,
    host,
    allowUnverified,
    signal,
    emit: (event) => {
      if (event.type !== 'state') emit(event)
    },
  })
}

/** @throws `install_failed` for a sum that is not the entry's */
function wantedSha256({ distribution, plan }: PlannedEntry, { sha256 }: AgentTrust): string | undefined {
  const given = sha256?.toLowerCase()
  if (given !== undefined && distribution.way !== 'binary')
    throw new AgentprotoError('install_failed', 'A SHA-256 is given for what is no download', {
      expected: 'an agent whose entry is a binary: a package manager checks its packages itself',
      given: `${plan.name} by ${distribution.way}`,
      hint: 'Leave out --sha256',
    })
  const own = distribution.way === 'binary' ? distribution.sha256 : undefined
  if (given !== undefined && own !== undefined && given !== own)
    throw new AgentprotoError('install_failed', 'The registry has another SHA-256 of the download', {
      expected: own,
      given,
      hint: 'Find out which of them its author names; without --sha256 that of the registry counts',
    })
  return given ?? plan.sha256
}

/** Its `data` says so to a program that can ask a person. */
const unverified = (url: string): AgentprotoError =>
  new AgentprotoError(
    'install_failed',
    'There is no checksum of the download, so that any file would be taken for it',
    {
      given: url,
      hint: 'Give it with --sha256, or accept what is there now with --allow-unverified: only that file is taken from then on',
      data: { unverified: url },
    },
  )

const edited = (slug: string): AgentprotoError =>
  new AgentprotoError('adapter_edited', `The manifest of ${slug} was edited, and would be replaced`, {
    given: slug,
    hint: `Replace it with: agentproto adapters update ${slug} --yes`,
  })
