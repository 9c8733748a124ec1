import { textUpdate, updateMessage, type Turn } from '../turn.js'
import { wholeNumber } from './argument.js'

const MAX_UPDATES = 100_000_000
const LINES_AT_ONCE = 2_000
const HOLE = '@'

/** Every line but its number is serialised once; stands in the replay as nothing. */
export async function flood(turn: Turn, argument: string): Promise<void> {
  const updates = wholeNumber(argument, 100_000, MAX_UPDATES)
  const [before, after] = lineAround(turn)
  for (let next = 1; next <= updates && !turn.signal.aborted;) {
    const end = Math.min(next + LINES_AT_ONCE, updates + 1)
    let lines = ''
    for (; next < end; next++) lines += before + next + after
    turn.around.output.raw(lines)
    await turn.around.output.room()
  }
}

function lineAround({ session }: Turn): readonly [before: string, after: string] {
  const message = updateMessage(session.id, textUpdate('agent_message', `${HOLE}\n`))
  const [before = '', after = ''] = JSON.stringify(message).split(HOLE)
  return [before, `${after}\n`]
}
