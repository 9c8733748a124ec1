import { lstat, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, isAgentprotoError, systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import {
  agentPrefix,
  disown,
  OWNER,
  ownerOf,
  removeFolder,
  removeLeftFolder,
  removeLeftScratch,
} from '@agentproto/driver-agent-cli/installation'
import { clearLeftovers, leftoverOf } from './install/prefix-change.js'
import { ledgerFile } from './ledger.js'
import type { ProvisionHost } from './provision-host.js'

type Host = Pick<ProvisionHost, 'home' | 'clock' | 'onWarning'>

/**
 * Removes what processes left that were killed while they added, installed, replaced or removed an agent: their folders, and the
 * installers and agents that they had started. What was put aside is back in its place. Nothing that a living process uses is touched.
 * Never rejects: what cannot be removed is left to the next one, with a warning.
 */
export async function removeLeft(host: Host): Promise<void> {
  const { home, clock = systemClock } = host
  const { agents, adapters } = homeLayout(home)
  for (const work of [
    () => removeLeftScratch(clock),
    () => eachOf(agents, (name) => removeLeftAgent(name, host)),
    () => eachOf(adapters, (name) => removeLeftAdapter(join(adapters, name), { adapters, clock })),
  ])
    await work().catch((thrown: unknown) => host.onWarning?.(`${STILL_THERE}: ${String(thrown)}`))
}

const STILL_THERE = 'What an earlier process left could not be removed'

/** For each folder by its name, also where only its owner is left. */
async function eachOf(folder: string, remove: (name: string) => Promise<void>): Promise<void> {
  const names = await readdir(folder).catch((): string[] => [])
  for (const name of new Set(names.map((each) => (each.endsWith(OWNER) ? each.slice(0, -OWNER.length) : each))))
    if (name.startsWith('.') || names.includes(`${name}${OWNER}`)) await remove(name)
}

async function removeLeftAgent(name: string, host: Host): Promise<void> {
  const path = join(homeLayout(host.home).agents, name)
  const owner = ownerOf(path)
  if (owner.is === 'living') return
  const left = leftoverOf(name)
  if (left === undefined) return name.startsWith('.') ? undefined : removeUnfinished(name, host)
  if (owner.is === 'ended' && !left.isOld) return removeLeftFolder(path, owner, host.clock ?? systemClock)
  // Which of two agents counts is for one process to decide.
  await whenFree(left.slug, host, () => clearLeftovers(agentPrefix({ id: left.slug }, host)))
}

/** A new agent whose adapter was never written. One that replaces another has put that aside. */
async function removeUnfinished(slug: string, host: Host): Promise<void> {
  const prefix = agentPrefix({ id: slug }, host)
  if (ownerOf(prefix).is !== 'ended') return
  await whenFree(slug, host, async () => {
    await clearLeftovers(prefix)
    const isAdapter = await exists(join(homeLayout(host.home).adapters, slug))
    if (!isAdapter && ownerOf(prefix).is === 'ended') await removeFolder(prefix)
    await disown(prefix)
  })
}

/** Under the lock of the ledger, if no other has it. */
async function whenFree(slug: string, host: Host, work: () => Promise<void>): Promise<void> {
  try {
    await ledgerFile(slug, host).locked(work)
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'provisioning_busy') throw thrown
  }
}

/** A copy is made within minutes. What is older, and of an unknown owner, was left. */
const STALE_MS = 30 * 60_000

interface Adapters {
  readonly adapters: string
  readonly clock: Clock
}

async function removeLeftAdapter(path: string, { adapters, clock }: Adapters): Promise<void> {
  if (!/\/\.(?:new|old|tmp)-[^/]+$/.test(path)) return
  const owner = ownerOf(path)
  const isStale = owner.is === 'unknown' && (await changedAt(path)) < clock.now() - STALE_MS
  if (owner.is !== 'ended' && !isStale) return
  if (path.includes('/.new-')) await bringAdapterBack(path, adapters)
  await removeLeftFolder(path, owner, clock)
}

/** Between two renames, the adapter that is replaced is only in the copy's folder. */
async function bringAdapterBack(path: string, adapters: string): Promise<void> {
  const copies = join(path, 'copy')
  for (const name of await readdir(copies).catch((): string[] => [])) {
    const target = join(adapters, name.replace(/\.old$/, ''))
    if (name.endsWith('.old') && !(await exists(target))) await rename(join(copies, name), target)
  }
}

const changedAt = (path: string): Promise<number> =>
  lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  )

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )
