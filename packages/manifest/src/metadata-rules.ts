import { asString } from '@agentproto/contracts'
import { nearest } from './nearest.js'
import { type RuleContext, strayKeyRule, valueAt } from './rule-context.js'

/** The keys of `metadata.agentproto` (docs/adapters.md). */
export const METADATA_KEYS = [
  'homepage',
  'tested',
  'unverified',
  'node',
  'python',
  'launch',
  'process',
  'permission_modes',
  'session_modes',
  'homes',
  'mcp',
  'adapter',
  'resume_after_ms',
  'resume',
  'instructions',
  'envelope',
  'doctor',
] as const

const PROCESSES = ['shared', 'own']

/** `metadata` is open: only what is almost one of our keys is reported. */
export function metadataRules(context: RuleContext): void {
  // One edit: `verified` is a word of its own, and no mistake for `unverified`.
  strayKeyRule(context, ['metadata', 'agentproto'], { known: METADATA_KEYS, most: 1 })
  const given = valueAt(context.document, ['metadata', 'agentproto', 'process'])
  if (given === undefined || PROCESSES.some((known) => known === given)) return
  context.problems.warn('value_unknown', context.at('metadata', 'agentproto', 'process'), {
    message: '`metadata.agentproto.process` has no effect: each session has a process of its own.',
    expected: `one of ${PROCESSES.join(', ')}`,
    given,
    suggestion: nearest(asString(given) ?? '', PROCESSES),
  })
}
