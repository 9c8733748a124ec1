import { existsSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import { agentPrefix, disown, findAgent, own } from '@agentproto/driver-agent-cli/installation'
import type { AgentCliManifest } from '@agentproto/manifest'
import { bringBack, discard, moved, putAside } from '../install/prefix-change.js'
import { type Ledger, ledgerFile } from '../ledger.js'
import type { ProvisionHost } from '../provision-host.js'
import type { Trial } from './trial.js'

export interface Placing<T> {
  readonly trial: Trial
  readonly host: ProvisionHost
  readonly manifest: AgentCliManifest
  /** Brings the agent into its prefix, which is empty. Default: moves what was installed in the trial. */
  readonly fill?: () => Promise<void>
  /** Makes it an adapter: the last thing that can fail. */
  readonly commit: () => Promise<T>
}

/**
 * Replaces the agent of a host by one that has passed its trial. What was there comes back when something fails, and is removed
 * when nothing has. Only under the lock of its ledger.
 */
export async function putInPlace<T>(placing: Placing<T>): Promise<T> {
  const { trial, host, manifest, commit } = placing
  const prefix = agentPrefix(manifest, host)
  const { fill = async () => void (await moved(trial.prefix, prefix)) } = placing
  // Before anything is moved: a ledger that cannot be read could not be brought back.
  const restoreLedger = await ledgerKeeper(manifest.id, host)
  const old = await putAside(prefix)
  try {
    // A new agent is not finished before its adapter is there.
    if (old === undefined) await own(prefix)
    await fill()
    await recordInstall(placing)
    const result = await commit()
    await discard(old)
    return result
  } catch (thrown) {
    await bringBack(old, prefix)
    await restoreLedger()
    throw thrown
  } finally {
    await disown(prefix)
  }
}

/** What was installed and checked in the trial is what is there now. Setup and login stay: they are the user's. */
async function recordInstall({ trial, host, manifest }: Placing<unknown>): Promise<void> {
  const { id } = manifest
  const { content: tried } = await ledgerFile(id, trial.host).read()
  const ledger = ledgerFile(id, host)
  const { install: _install, check: _check, ...kept } = await ledger.readOrMoveAside()
  const found = await findAgent(manifest, host)
  const checked: Pick<Ledger, 'check'> =
    found === undefined || tried.check === undefined
      ? {}
      : { check: { ...tried.check, file: found.file, changed: (await stat(found.file)).mtimeMs } }
  await ledger.write({ ...kept, ...(tried.install && { install: tried.install }), ...checked })
}

/** Brings the ledger back as it is now. */
async function ledgerKeeper(slug: string, host: ProvisionHost): Promise<() => Promise<void>> {
  const path = join(homeLayout(host.home).provisioning, `${slug}.json`)
  if (!existsSync(path)) return () => rm(path, { force: true })
  const ledger = ledgerFile(slug, host)
  const { content } = await ledger.read()
  return () => ledger.write(content)
}
