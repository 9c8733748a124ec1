import { defined } from '@agentproto/contracts'
import type { SetupStepState } from '@agentproto/contracts/wire'
import type { SetupStep } from '@agentproto/manifest'
import type { LedgerStep } from '../ledger.js'
import type { Question } from '../provision-host.js'
import { isConfidential, type Step } from './setup-context.js'

/** A step as callers see it: what the ledger records, or what the step needs, as far as its manifest says. */
export function stepState(step: SetupStep, entry?: LedgerStep, needs = needsOf(step)): SetupStepState {
  const { id, kind, description } = step
  const pending = entry === undefined ? { needs } : { at: entry.at }
  return { id, kind, state: entry?.state ?? 'pending', ...defined({ description, ...pending }) }
}

function needsOf(step: SetupStep): SetupStepState['needs'] {
  switch (step.kind) {
    case 'cmd':
      return step.interactive ? { kind: 'terminal', command: step.cmd } : undefined
    case 'oauth':
      return { kind: 'secret', slug: step.secretSlug }
    case 'external':
      return externalQuestion(step)
    case 'prompt':
      return promptQuestion(step)
  }
}

/** The question of an `external` step, with the address as the manifest has it. */
export function externalQuestion(step: Step<'external'>): Question {
  const { id, description, url } = step
  if (step.persist === undefined) return { kind: 'value', type: 'boolean', prompt: `${description ?? id}: done?`, url }
  const type = isConfidential(step) ? 'secret' : 'text'
  return { kind: 'value', type, prompt: description ?? `What the page gives for ${id}`, url }
}

/** The question of a `prompt` step as the manifest has it; choices that a command lists are not in it. */
export function promptQuestion(step: Step<'prompt'>): Question {
  const { prompt, options, default: fallback } = step
  const type = isConfidential(step) && step.type === 'text' ? 'secret' : step.type
  const choices = options === undefined || 'cmd' in options ? undefined : options
  const listed = choices?.map((value) => ({ value, label: value }))
  return { kind: 'value', prompt, type, ...defined({ options: listed, default: fallback }) }
}
