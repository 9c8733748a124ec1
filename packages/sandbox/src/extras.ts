import { mkdir, mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { AgentprotoError, asRecord, asString, type Json } from '@agentproto/contracts'
import { type EgressProxy, type EgressRules, openEgressProxy } from './egress-proxy.js'
import type { FilePolicy } from './file-policy.js'
import { PROXY_SOCKET } from './proxy-socket.js'
import type { HeldSandbox, KeptSandbox } from './sandbox-provider.js'

/** The folder of the proxy's socket. The folder is mounted, since a later host makes another socket in it. */
const FOLDER_INSIDE = '/run/agentproto-egress'
export const SOCKET_INSIDE = `${FOLDER_INSIDE}/${PROXY_SOCKET}`

/** What a sandbox has and its host has not. */
export interface Extras {
  /** Mounted read-only. */
  readonly mounts: readonly { readonly from: string; readonly at: string }[]
  readonly release: () => Promise<void>
  /** Absent where they end with this host. */
  readonly kept?: KeptSandbox
}

export interface ExtrasRequest {
  readonly texts: FilePolicy['texts']
  /** Absent: no egress proxy. */
  readonly egress: EgressRules | undefined
  /** As in the request of the sandbox. */
  readonly folder: string | undefined
}

/** Creates them: texts as files, and the egress proxy of a sandbox without a network. Undefined where it needs none. */
export async function createExtras({ texts, egress, folder }: ExtrasRequest): Promise<Extras | undefined> {
  if (egress === undefined && texts.length === 0) return undefined
  const scratch = folder === undefined ? await mkdtemp(join(tmpdir(), 'agentproto-')) : await scratchIn(folder)
  const held = new HeldExtras(scratch, folder)
  try {
    const files = await Promise.all(texts.map((text, index) => written(text, join(scratch, `text-${index}`))))
    if (egress === undefined) return extrasOf(held, { mounts: files, folder, facts: {} })
    await mkdir(egressFolder(scratch), { mode: 0o700 })
    await held.open(egress)
    const mounts = [...files, { from: egressFolder(scratch), at: FOLDER_INSIDE }]
    return extrasOf(held, { mounts, folder, facts: { egress: { ...egress } } })
  } catch (thrown) {
    await held.release()
    throw thrown
  }
}

interface Created extends Pick<Extras, 'mounts'> {
  readonly folder: string | undefined
  readonly facts: Json
}

function extrasOf(held: HeldExtras, { mounts, folder, facts }: Created): Extras {
  const release = (): Promise<void> => held.release()
  if (folder === undefined) return { mounts, release }
  const kept = { facts: { ...facts, scratch: basename(held.scratch) }, leave: () => held.leave() }
  return { mounts, release, kept }
}

/**
 * Holds them again, under the rules of the launch. Where the proxy cannot be opened again, the sandbox has no network.
 * @param ownNames names of this gateway, beside those of the one that launched
 * @throws `sandbox_unavailable` when the facts cannot be read: what the launch allowed is not known
 */
export async function holdExtrasAgain(
  facts: Json,
  folder: string | undefined,
  ownNames: readonly string[],
): Promise<HeldSandbox> {
  const { scratch, egress } = asRecord(facts)
  const name = asString(scratch)
  const rules = egress === undefined ? undefined : rulesOf(egress)
  if (folder === undefined || name === undefined || !SCRATCH.test(name) || rules === 'unreadable')
    throw new AgentprotoError('sandbox_unavailable', 'What is stored of the sandbox cannot be read')
  const held = new HeldExtras(join(folder, name), folder)
  const failure = rules && (await failureOf(held.open({ ...rules, ownNames: [...rules.ownNames, ...ownNames] })))
  return {
    warnings: failure === undefined ? [] : [`The agent has no network: its proxy cannot be opened again: ${failure}`],
    release: () => held.release(),
    leave: () => held.leave(),
  }
}

const failureOf = (opening: Promise<void>): Promise<string | undefined> =>
  opening.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
  )

function rulesOf(egress: Json[string]): EgressRules | 'unreadable' {
  const { list, ownNames } = asRecord(egress)
  return isTexts(list) && isTexts(ownNames) ? { list, ownNames } : 'unreadable'
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string')

const SCRATCH = /^launch-\w{6}$/

/** A folder of this launch. Those of earlier ones belong to processes that have ended, or are about to be. */
async function scratchIn(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) if (SCRATCH.test(name)) await removed(join(folder, name))
  const create = (): Promise<string> => mkdtemp(join(folder, 'launch-'))
  // An earlier launch that is released just now may have removed it.
  return create().catch(() => mkdir(folder, { recursive: true, mode: 0o700 }).then(create))
}

const removed = (path: string): Promise<void> => rm(path, { recursive: true, force: true }).catch(() => {})

const egressFolder = (scratch: string): string => join(scratch, 'egress')

async function written({ at, text }: FilePolicy['texts'][number], from: string): Promise<{ from: string; at: string }> {
  await writeFile(from, text, { mode: 0o600 })
  return { from, at }
}

/** Files of one launch, and the proxy that this host has open for it. */
class HeldExtras {
  readonly scratch: string
  readonly #folder: string | undefined
  #proxy: EgressProxy | undefined
  #isLeft = false

  constructor(scratch: string, folder: string | undefined) {
    this.scratch = scratch
    this.#folder = folder
  }

  async open(rules: EgressRules): Promise<void> {
    this.#proxy = await openEgressProxy(egressFolder(this.scratch), rules)
  }

  async leave(): Promise<void> {
    this.#isLeft = true
    await this.#proxy?.close()
  }

  async release(): Promise<void> {
    await this.#proxy?.close()
    // A later host may hold them by now.
    if (this.#isLeft) return
    await removed(this.scratch)
    // It may have another launch by now.
    if (this.#folder !== undefined) await rmdir(this.#folder).catch(() => {})
  }
}
