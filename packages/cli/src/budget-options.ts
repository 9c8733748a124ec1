import { type Budget, type Cost, defined, type LoopLimits } from '@agentproto/contracts'
import { InvalidArgumentError } from 'commander'
import type { CliCommand } from './cli-command.js'
import { numberThat, toCount } from './command-definition.js'

/** The options that limit what a session may use. */
export interface BudgetOptions {
  readonly budgetCost?: Cost
  readonly budgetTokens?: number
  readonly budgetTurns?: number
  readonly budgetMinutes?: number
}

/** The options of every command that starts an agent. */
export interface LimitOptions extends BudgetOptions {
  readonly loopStop?: number
  /** In seconds. */
  readonly requestTimeout?: number
}

export const addBudgetOptions = (command: CliCommand): CliCommand =>
  command
    .option(
      '--budget-cost <amount>',
      'end it when it has cost this much, such as 5 or 5EUR (default currency USD)',
      toCost,
    )
    .option('--budget-tokens <n>', 'end it when it has used this many tokens', toLimit)
    .option('--budget-turns <n>', 'end it when it is prompted once more after this many turns', toLimit)
    .option('--budget-minutes <n>', 'end it when its agent has worked for this long', toMinutes)

export const addLimitOptions = (command: CliCommand): CliCommand =>
  addBudgetOptions(command)
    .option('--loop-stop <n>', 'end it when its agent repeats the same call with the same result n times', toCount)
    .option(
      '--request-timeout <seconds>',
      'deny a request that is not answered after this time; 0 waits until it is answered',
      toRequestSeconds,
    )

/** The budget of a request; empty if no option names a limit. */
export function budgetOf(options: BudgetOptions): { readonly budget?: Budget } {
  const { budgetCost: cost, budgetTokens: tokens, budgetTurns: turns, budgetMinutes: minutes } = options
  const budget = defined({ cost, tokens, turns, minutes })
  return Object.keys(budget).length === 0 ? {} : { budget }
}

interface Limits {
  readonly budget?: Budget
  readonly loops?: LoopLimits
  readonly requestTimeoutMs?: number
}

export const limitsOf = (options: LimitOptions): Limits => ({
  ...budgetOf(options),
  ...(options.requestTimeout === undefined ? {} : { requestTimeoutMs: Math.ceil(options.requestTimeout * 1_000) }),
  ...(options.loopStop === undefined ? {} : { loops: { stopAfter: options.loopStop } }),
})

const toLimit = numberThat((value) => Number.isSafeInteger(value) && value >= 1, 'whole number, 1 or more')
const toMinutes = numberThat((value) => value > 0 && Number.isFinite(value), 'positive number of minutes')

/** The longest time of a timer. */
const MAX_SECONDS = 2_147_483
const toRequestSeconds = numberThat(
  (value) => value >= 0 && value <= MAX_SECONDS,
  `number of seconds from 0 to ${MAX_SECONDS}`,
)

function toCost(text: string): Cost {
  const [, number, currency = 'USD'] = /^(\d+(?:\.\d+)?) ?([A-Za-z]{3})?$/.exec(text) ?? []
  const amount = Number(number)
  if (amount > 0) return { amount, currency: currency.toUpperCase() }
  throw new InvalidArgumentError('Write an amount, such as 5, 0.5 or 5EUR.')
}
