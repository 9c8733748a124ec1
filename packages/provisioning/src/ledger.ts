import { createHash } from 'node:crypto'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AgentprotoError, parseJson } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { SetupStep } from '@agentproto/manifest'
import * as z from 'zod'

/** How far one adapter's agent is provisioned, in `provisioning/<slug>.json`. Contains no secret. */

const installSchema = z.strictObject({ method: z.string(), package: z.string().exactOptional(), at: z.string() })

const versionSchema = z.strictObject({
  version: z.string().exactOptional(),
  ok: z.boolean(),
  at: z.string(),
  /** What was checked: another file, or the same with another time of change, has not been. */
  file: z.string(),
  changed: z.number(),
})

const stepSchema = z.strictObject({
  state: z.enum(['done', 'skipped']),
  at: z.string(),
  /** Digest of the declaration: a step that the manifest has changed is run again. */
  digest: z.string(),
  /** Its value, if that is not a secret. */
  value: z.string().exactOptional(),
  /** Slug of its secret value. */
  secret: z.string().exactOptional(),
})

const authSchema = z.strictObject({
  state: z.enum(['authed', 'unauthed']),
  at: z.string(),
  refreshedAt: z.string().exactOptional(),
})

const ledgerSchema = z.strictObject({
  version: z.literal(1),
  install: installSchema.exactOptional(),
  check: versionSchema.exactOptional(),
  /** By workspace, `*` for all of them, and by the step's id. */
  setup: z.record(z.string(), z.record(z.string(), stepSchema)),
  auth: authSchema.exactOptional(),
})

export type Ledger = z.infer<typeof ledgerSchema>
export type LedgerStep = z.infer<typeof stepSchema>

/** Setup that counts for every workspace. */
export const EVERYWHERE = '*'

const emptyLedger = (): Ledger => ({ version: 1, setup: {} })

const pathOf = (home: string, slug: string): string => join(homeLayout(home).provisioning, `${slug}.json`)

/** Reads a ledger; one that cannot be understood counts as empty. @throws `storage_failed` */
export async function readLedger(home: string, slug: string): Promise<Ledger> {
  return (await read(pathOf(home, slug))) ?? emptyLedger()
}

async function read(path: string): Promise<Ledger | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw new AgentprotoError('storage_failed', `The ledger cannot be read: ${path}`, { cause: thrown })
  }
  const result = ledgerSchema.safeParse(parseJson(text))
  if (result.success) return result.data
  // Its content can be determined again: it only has to be moved aside.
  await rename(path, `${path}.unreadable-${Date.now()}`).catch(() => undefined)
  return undefined
}

/** Replaces a ledger as a whole. @throws `storage_failed` */
export async function writeLedger(home: string, slug: string, ledger: Ledger): Promise<void> {
  const path = pathOf(home, slug)
  const { default: writeFileAtomic } = await import('write-file-atomic')
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFileAtomic(path, `${JSON.stringify(ledger, undefined, 2)}\n`, { mode: 0o600 })
  } catch (thrown) {
    throw new AgentprotoError('storage_failed', `The ledger cannot be written: ${path}`, { cause: thrown })
  }
}

/** Runs with an adapter's ledger locked between processes. @throws `provisioning_busy` at once when it is */
export async function withLedgerLock<T>(home: string, slug: string, run: () => Promise<T>): Promise<T> {
  const path = pathOf(home, slug)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const { lock } = await import('proper-lockfile')
  let release: () => Promise<void>
  try {
    release = await lock(path, { realpath: false, stale: 15_000, onCompromised: () => undefined })
  } catch (thrown) {
    if (codeOf(thrown) !== 'ELOCKED')
      throw new AgentprotoError('storage_failed', `The ledger cannot be locked: ${path}`, { cause: thrown })
    throw new AgentprotoError('provisioning_busy', `${slug} is already being installed or set up`, {
      hint: 'Wait until that has finished. After a crash the lock is released within fifteen seconds.',
    })
  }
  try {
    return await run()
  } finally {
    await release().catch(() => undefined)
  }
}

/** The completed steps of a workspace: its own, and for the rest those that count for all workspaces. */
export function stepsFor(
  ledger: Ledger,
  steps: readonly SetupStep[],
  workspace = EVERYWHERE,
): ReadonlyMap<string, LedgerStep> {
  const found = new Map<string, LedgerStep>()
  for (const step of steps) {
    const entry = entryOf(ledger, workspace, step.id) ?? entryOf(ledger, EVERYWHERE, step.id)
    if (entry?.digest === digestOf(step)) found.set(step.id, entry)
  }
  return found
}

function entryOf(ledger: Ledger, workspace: string, id: string): LedgerStep | undefined {
  const steps = Object.hasOwn(ledger.setup, workspace) ? ledger.setup[workspace] : undefined
  return steps !== undefined && Object.hasOwn(steps, id) ? steps[id] : undefined
}

export const withStep = (
  ledger: Ledger,
  workspace: string,
  { id, entry }: { id: string; entry: LedgerStep },
): Ledger => ({
  ...ledger,
  setup: { ...ledger.setup, [workspace]: { ...ledger.setup[workspace], [id]: entry } },
})

export const digestOf = (step: SetupStep): string =>
  createHash('sha256').update(JSON.stringify(step)).digest('hex').slice(0, 16)

const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
