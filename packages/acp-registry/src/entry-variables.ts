import { isSecretVariable } from '@agentproto/manifest'
import type { Distribution } from './distribution.js'

/** The variables that an entry gives its agent. */
export interface EntryVariables {
  /** Names of those that it gets from the environment of the host. */
  readonly passed: readonly string[]
  readonly set: Readonly<Record<string, string>>
}

/**
 * An empty value stands for one that the user sets, and a credential may not be in a manifest: of both, the agent gets what the
 * environment of the host has.
 */
export function variablesOf({ env }: Pick<Distribution, 'env'>): EntryVariables {
  const isPassed = ([name, value]: readonly [string, string]): boolean => value === '' || isSecretVariable(name, value)
  const variables = Object.entries(env)
  return {
    passed: variables.filter(isPassed).map(([name]) => name),
    set: Object.fromEntries(variables.filter((variable) => !isPassed(variable))),
  }
}
