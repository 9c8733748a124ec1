import type { ConfinementProfile, PreparedLaunch } from './sandbox-provider.js'

/**
 * Adds what a built-in provider does not read. A block that restricts the agent leaves the profile unenforced; of the others the
 * session has a warning.
 */
export function withUnreadBlocks(profile: ConfinementProfile, prepared: PreparedLaunch): PreparedLaunch {
  const { carried = {}, config, tty } = profile
  const unread = restrictionsOf(carried)
  const ignored = [
    ...Object.keys(config).map((key) => `config.${key}`),
    ...(carried.lifecycle === undefined ? [] : ['lifecycle']),
    ...(tty?.required === true ? ['tty.required'] : []),
  ]
  const warnings = ignored.map((block) => `sandbox.${block} has no effect with the provider ${profile.provider}`)
  const reasons = [
    ...(prepared.reason === undefined ? [] : [prepared.reason]),
    ...unread.map((block) => `${block}: not read here`),
  ]
  return {
    ...prepared,
    enforced: prepared.enforced && unread.length === 0,
    ...(reasons.length === 0 ? {} : { reason: reasons.join('; ') }),
    warnings: [...prepared.warnings, ...warnings],
  }
}

const restrictionsOf = (carried: NonNullable<ConfinementProfile['carried']>): readonly string[] =>
  (['identity', 'policy'] as const).filter((block) => carried[block] !== undefined)
