import { toAgentprotoError } from '@agentproto/contracts'
import { paintOf, print, type Io } from './io.js'

/**
 * Tells a failure on stderr, one line that ends with the next step, or with `asJson` the problem document.
 * @returns the exit code of the error table
 */
export function tellFailure(io: Io, thrown: unknown, asJson: boolean): number {
  const error = toAgentprotoError(thrown)
  if (asJson) print(io.stderr, JSON.stringify(error.toProblem()))
  else print(io.stderr, `${paintOf(io, io.stderr).red('agentproto:')} ${error.message.replace(/\s+/g, ' ')}`)
  // An error of ours is a sentence for the user; anything else is a defect, and its stack is what helps.
  if (error.code === 'internal' && io.env['AGENTPROTO_DEBUG'] && error.cause instanceof Error) {
    print(io.stderr, error.cause.stack ?? '')
  }
  return error.row.exit
}
