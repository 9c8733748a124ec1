import { cut, pad } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { wrap } from '../render/wrap.js'
import { ATTACH_KEYS } from './attach-keys.js'
import { OWN_COMMANDS } from './own-commands.js'

const KEYS_WIDTH = 25

/** What `/help` prints: every key and every command of the screen. */
export function attachHelp({ paint, width }: Frame): string[] {
  const row = (left: string, right: string): string[] => {
    // Too narrow for two columns.
    if (width < 2 * KEYS_WIDTH)
      return [paint.bold(cut(left, width)), ...wrap(right, width - 2).map((text) => `  ${text}`)]
    const rows = wrap(right, width - KEYS_WIDTH - 2)
    return rows.map((text, index) => paint.bold(pad(index === 0 ? left : '', KEYS_WIDTH)) + `  ${text}`)
  }
  const note =
    'A command that the agent has, too, is the agent’s; // before its name is ours. A space before the slash makes a line a prompt.'
  return [
    '',
    ...ATTACH_KEYS.flatMap(({ keys, what }) => row(keys, what)),
    '',
    ...OWN_COMMANDS.flatMap((each) => row(usageOf(each), each.description)),
    ...wrap(note, width),
    '',
  ]
}

/** A command with its argument, as help and docs show it. */
export const usageOf = ({ name, hint }: { readonly name: string; readonly hint?: string }): string =>
  `/${name}${hint === undefined ? '' : name === 'steer' ? ` <${hint}>` : ` [${hint}]`}`
