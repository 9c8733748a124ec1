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
  'first_start',
  'permission_modes',
  'session_modes',
  'homes',
  'mcp',
  'adapter',
  'resume_after_ms',
  'resume',
  'instructions',
  'envelope',
  'usage',
  'endpoint',
  'doctor',
  'registry',
  'registry_id',
  'observed',
  'install_scripts',
  'unpack',
] as const

/** Keys whose value is one of a few words, and what happens with any other. */
const WORDS = {
  process: { known: ['shared', 'own'], otherwise: 'each session has a process of its own' },
  first_start: { known: ['alone', 'any'], otherwise: 'first starts are not kept apart' },
  install_scripts: { known: ['run', 'skip'], otherwise: 'npm runs the scripts of packages' },
  unpack: { known: ['all', 'program'], otherwise: 'only the program is unpacked' },
}

/** `metadata` is open: only what is almost one of our keys is reported. */
export function metadataRules(context: RuleContext): void {
  // One edit: `verified` is a word of its own, and no mistake for `unverified`.
  strayKeyRule(context, ['metadata', 'agentproto'], { known: METADATA_KEYS, most: 1 })
  for (const [key, words] of Object.entries(WORDS)) wordRule(context, key, words)
}

function wordRule(context: RuleContext, key: string, { known, otherwise }: (typeof WORDS)['process']): void {
  const given = valueAt(context.document, ['metadata', 'agentproto', key])
  if (given === undefined || known.some((word) => word === given)) return
  context.problems.warn('value_unknown', context.at('metadata', 'agentproto', key), {
    message: `\`metadata.agentproto.${key}\` has no effect: ${otherwise}.`,
    expected: `one of ${known.join(', ')}`,
    given,
    suggestion: nearest(asString(given) ?? '', known),
  })
}
