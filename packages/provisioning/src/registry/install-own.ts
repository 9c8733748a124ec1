import { AgentprotoError } from '@agentproto/contracts'
import { ledgerFile } from '../ledger.js'
import type { LoadedAdapter } from '../catalog/manifest-catalog.js'
import { createProvisioner } from '../provisioner.js'
import type { Adding, AgentTrust } from './adding.js'
import { nameOf, npmMethod } from './npm-method.js'
import type { PlannedOwn } from './plan-agent.js'
import { putInPlace } from './put-in-place.js'
import { Trial } from './trial.js'

/** Installs the agent of an adapter that is there: as its manifest says, or in the version of the registry after a trial. */
export async function installOwn({ adapter, version }: PlannedOwn, trust: AgentTrust, adding: Adding): Promise<void> {
  if (version !== undefined) return replaceOwn(atVersion(adapter, version), trust, adding)
  const { parts, emit, signal } = adding
  const { allowUnverified = false } = trust
  const events = createProvisioner(adapter, parts.host).run({ until: 'install', allowUnverified, signal })
  for await (const event of events) if (event.type !== 'state') emit(event)
}

async function replaceOwn(adapter: LoadedAdapter, trust: AgentTrust, adding: Adding): Promise<void> {
  const { emit, signal } = adding
  const { host } = adding.parts
  const { allowUnverified = false } = trust
  const { manifest } = adapter
  // An agent of the catalogue that does not shake hands is never better than the one that is there.
  const options = { slug: manifest.id, host, allowUnverified, force: false, emit, signal }
  await ledgerFile(manifest.id, host).locked(() =>
    Trial.run(options, async (trial) => {
      await trial.install(adapter)
      await trial.observe(adapter)
      await putInPlace({ trial, host, manifest, commit: () => Promise.resolve() })
    }),
  )
}

/** The adapter with its npm package in another version, and no other way of installing it. */
function atVersion(adapter: LoadedAdapter, version: string): LoadedAdapter {
  const { manifest } = adapter
  const npm = npmMethod(manifest.install)
  if (npm === undefined)
    throw new AgentprotoError('install_failed', `The version of ${manifest.name} cannot be chosen`, {
      expected: 'an agent that npm installs',
      given: manifest.install.map(({ method }) => method).join(', '),
      hint: `Install what its manifest names with: agentproto adapters install ${manifest.id}`,
    })
  return { ...adapter, manifest: { ...manifest, install: [{ ...npm, package: `${nameOf(npm.package)}@${version}` }] } }
}
