import { toAgentprotoError } from '@agentproto/contracts'
import { paintFor, print, type CliContext } from './cli-context.js'

/**
 * Reports a failure on stderr: one line that ends with the next step, or with `asJson` the problem document.
 * @returns the exit code of the error table
 */
export function reportFailure(context: CliContext, thrown: unknown, asJson: boolean): number {
  const error = toAgentprotoError(thrown)
  const { stderr, env } = context
  if (asJson) print(stderr, JSON.stringify(error.toProblem()))
  else print(stderr, `${paintFor(context, stderr).red('agentproto:')} ${error.message.replace(/\s+/g, ' ')}`)
  // An AgentprotoError is a sentence for the user. Anything else is a defect, where the stack helps.
  if (error.code === 'internal' && env['AGENTPROTO_DEBUG'] && error.cause instanceof Error) {
    print(stderr, error.cause.stack ?? '')
  }
  return error.row.exit
}
