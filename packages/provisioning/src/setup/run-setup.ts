import { AgentprotoError, isAgentprotoError, systemClock } from '@agentproto/contracts'
import type { SetupStepState } from '@agentproto/contracts/wire'
import type { SetupStep } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { type AgentRecord, agentVariables } from '../agent-record.js'
import { digestOf, EVERYWHERE, type Ledger, type LedgerStep, withStep } from '../ledger.js'
import { runManifestCommand, endingOf } from '../manifest-command.js'
import { isSkipped, runStep } from './run-step.js'
import { isConfidential, secretSlugOf, type SetupContext, stepFailed, valuesFor } from './setup-context.js'
import { stepState } from './step-question.js'

export interface SetupRun extends AgentRecord, Pick<SetupContext, 'inputs' | 'emit' | 'signal'> {
  /** Saves the ledger after each step. */
  readonly save: (ledger: Ledger) => Promise<void>
  /** Does every step again. */
  readonly force?: boolean
  /** Variables of one session, which its `skip_if` checks get too. */
  readonly chosen?: Readonly<Record<string, string>>
  /** Runs no step, only the `skip_if` checks. */
  readonly dryRun?: boolean
}

/**
 * Runs the steps that are not done, in order (AIP-29 §Setup).
 * @returns the ledger with all of them done
 * @throws `setup_required` with the pending steps, `setup_failed` with the step's id
 */
export async function runSetup(run: SetupRun): Promise<Ledger> {
  const { adapter, workspace = EVERYWHERE, emit, save, force = false, chosen } = run
  const steps = adapter.manifest.setup
  let { ledger } = run
  for (const [index, step] of steps.entries()) {
    const { done, lost, variables } = await agentVariables({ ...run, ledger })
    const isOpen = ({ id }: SetupStep): boolean => force || !done.has(id) || lost.has(id)
    if (!isOpen(step)) continue
    const entry = await settleOrFail(step, { ...run, done, variables: { ...variables, ...chosen } })
    if ('pending' in entry) {
      emit({ type: 'step', step: step.id, kind: step.kind, state: 'pending' })
      throw setupRequired(adapter, steps.slice(index).filter(isOpen), entry.pending)
    }
    ledger = withStep(ledger, workspace, { id: step.id, entry })
    await save(ledger)
    emit({ type: 'step', step: step.id, kind: step.kind, state: entry.state })
  }
  return ledger
}

type Pending = { readonly pending: SetupStepState['needs'] }

/** An error of a step's own commands is a failure of the step. */
async function settleOrFail(
  step: SetupStep,
  context: SetupContext & Pick<SetupRun, 'dryRun'>,
): Promise<LedgerStep | Pending> {
  try {
    return await settle(step, context)
  } catch (thrown) {
    if (context.signal.aborted) throw new AgentprotoError('cancelled', 'The setup was cancelled')
    const code = isAgentprotoError(thrown) ? thrown.code : undefined
    if (code === 'setup_failed' || code === 'invalid_request' || code === 'cancelled') throw thrown
    throw stepFailed(
      step,
      context.host.redactor.redact(thrown instanceof Error ? thrown.message : String(thrown)),
      thrown,
    )
  }
}

async function settle(
  step: SetupStep,
  context: SetupContext & Pick<SetupRun, 'dryRun'>,
): Promise<LedgerStep | Pending> {
  const { host, adapter, emit, dryRun = false } = context
  const at = new Date((host.clock ?? systemClock).now()).toISOString()
  const base = { at, digest: digestOf(step) }
  if (await isSkipped(step, context)) return { ...base, state: 'skipped' }
  if (dryRun) return { pending: undefined }
  emit({
    type: 'step',
    step: step.id,
    kind: step.kind,
    state: 'started',
    ...(step.description === undefined ? {} : { detail: step.description }),
  })
  const result = await runStep(step, context)
  if (result.state === 'pending') return { pending: result.needs }
  if (result.secretSlug !== undefined) return { ...base, state: 'done', secret: result.secretSlug }
  const { value } = result
  if (value === undefined) return { ...base, state: 'done' }
  await handOver(step, value, context)
  if (!isConfidential(step)) return { ...base, state: 'done', value }
  const secret = secretSlugOf(step, adapter)
  await host.secrets.set(secret, { kind: 'opaque', value })
  return { ...base, state: 'done', secret }
}

const HAND_OVER_MS = 60_000

/** `persist.cmd`: passes the value to the agent's own tool. */
async function handOver(step: SetupStep, value: string, context: SetupContext): Promise<void> {
  if (step.kind === 'oauth' || step.persist === undefined || !('cmd' in step.persist)) return
  const { cmd } = step.persist
  const { host, emit } = context
  if (isConfidential(step)) {
    host.redactor.add(value)
    emit({
      type: 'warning',
      message: `The secret of the step ${step.id} becomes an argument of a command: while that runs, other users of this machine can see it.`,
    })
  }
  const values = new Map([...(await valuesFor(cmd, context)), ['value', value]])
  const end = await runManifestCommand(cmd, context, { timeoutMs: HAND_OVER_MS, values })
  if (end.timedOut || end.exitCode !== 0)
    throw stepFailed(step, host.redactor.redact(`its value was not stored: ${endingOf(end)}`))
}

function setupRequired(
  { manifest }: LoadedAgentCli,
  pending: readonly SetupStep[],
  first: Pending['pending'],
): AgentprotoError {
  const states = pending.map((step, index) => stepState(step, undefined, index === 0 ? first : undefined))
  return new AgentprotoError(
    'setup_required',
    `${manifest.name} is not set up: ${pending.map(({ id }) => id).join(', ')}`,
    {
      hint: `Run: agentproto adapters setup ${manifest.id}`,
      data: { pending: states },
    },
  )
}
