import type { Turn } from '../turn.js'
import { wholeNumber } from './argument.js'

/** Never settles: the turn has no answer, the process is gone. */
export function crash(turn: Turn, argument: string): Promise<void> {
  const exitCode = wholeNumber(argument, 1, 255)
  turn.output.raw('{"jsonrpc":"2.0","method":"session/upda')
  return new Promise(() => turn.output.flush(() => process.exit(exitCode)))
}

export function garbage(turn: Turn, argument: string): void {
  turn.output.raw(`${argument || 'this is not JSON'}\n`)
  turn.say('There was garbage.')
}
