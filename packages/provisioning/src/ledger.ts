import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { JsonFile } from '@agentproto/json-file'
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
  /** When the manifest's own check last gave this state. */
  checkedAt: z.string().exactOptional(),
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

/**
 * The ledger of an adapter. One that cannot be understood is moved aside, with a warning: its content can be determined again.
 * @throws `storage_failed`; `provisioning_busy` at once when another process has locked it
 */
export const ledgerFile = (
  slug: string,
  { home, onWarning }: Pick<AgentHost, 'home' | 'onWarning'>,
): JsonFile<Ledger> =>
  new JsonFile({
    onWarning,
    path: join(homeLayout(home).provisioning, `${slug}.json`),
    what: `ledger of ${slug}`,
    schema: ledgerSchema,
    empty: { version: 1, setup: {} },
    lock: { staleMs: 15_000, busy: () => busy(slug) },
  })

const busy = (slug: string): AgentprotoError =>
  new AgentprotoError('provisioning_busy', `${slug} is already being installed or set up`, {
    hint: 'Wait until that has finished. After a crash the lock is released within fifteen seconds.',
  })

/** A change that can be made later too: a running setup is not waited for. */
export async function changeWhenFree(
  slug: string,
  host: Pick<AgentHost, 'home' | 'onWarning'>,
  change: (ledger: Ledger) => Ledger,
): Promise<void> {
  try {
    await ledgerFile(slug, host).change((ledger) => [change(ledger), undefined])
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'provisioning_busy') throw thrown
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
