import type { SetupStep } from '@agentproto/manifest'
import { endingOf, prepareCommand, runManifestCommand } from '../manifest-command.js'
import { runInTerminal } from '../run-command.js'
import { runExternal } from './external-step.js'
import { runOauth } from './oauth-step.js'
import { runPrompt } from './prompt-step.js'
import {
  isConfidential,
  SecretMissing,
  type SetupContext,
  type Step,
  stepFailed,
  type StepResult,
  valuesFor,
} from './setup-context.js'

/**
 * Runs one step. Without a terminal, a step that needs one is pending, unless its answer is in the request.
 * @throws `setup_failed` with the step's id, `invalid_request` for an answer that does not fit, `cancelled`
 */
export async function runStep(step: SetupStep, context: SetupContext): Promise<StepResult> {
  try {
    switch (step.kind) {
      case 'cmd':
        return await runCmd(step, context)
      case 'prompt':
        return await runPrompt(step, context)
      case 'oauth':
        return await runOauth(step, context)
      case 'external':
        return await runExternal(step, context)
    }
  } catch (thrown) {
    if (thrown instanceof SecretMissing) return { state: 'pending', needs: { kind: 'secret', slug: thrown.slug } }
    throw thrown
  }
}

/** Whether a step's `skip_if` says that there is nothing to do. */
export async function isSkipped(step: SetupStep, context: SetupContext): Promise<boolean> {
  const { skipIf } = step
  if (skipIf === undefined) return false
  try {
    const values = await valuesFor(skipIf.cmd, context)
    const end = await runManifestCommand(skipIf.cmd, context, { timeoutMs: skipIf.timeoutMs, values })
    return !end.timedOut && end.exitCode === skipIf.exitCode
  } catch (thrown) {
    if (context.signal.aborted) throw thrown
    // A check that cannot run does not skip the step.
    return false
  }
}

async function runCmd(step: Step<'cmd'>, context: SetupContext): Promise<StepResult> {
  const { host, emit } = context
  const values = await valuesFor(step.cmd, context)
  if (step.interactive) {
    if (host.terminal === undefined) return { state: 'pending', needs: { kind: 'terminal', command: step.cmd } }
    const ready = await prepareCommand(step.cmd, context, values)
    const exitCode = await host.terminal.run(ready, () => runInTerminal(ready))
    if (exitCode !== 0) throw stepFailed(step, `${step.cmd} ended with ${exitCode}`)
    return { state: 'done' }
  }
  const quiet = isConfidential(step)
  const end = await runManifestCommand(step.cmd, context, {
    timeoutMs: step.timeoutMs,
    values,
    // Its stdout is the value; a confidential one is not shown.
    onLine: (stream, line) => {
      if (!quiet || stream === 'stderr') emit({ type: 'output', stream, line: host.redactor.redact(line) })
    },
  })
  if (end.timedOut || end.exitCode !== 0)
    throw stepFailed(step, host.redactor.redact(quiet && !end.stderr ? 'its command failed' : endingOf(end)))
  return step.persist === undefined ? { state: 'done' } : { state: 'done', value: end.stdout.trim() }
}
