import { pad } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { wrap } from '../render/wrap.js'

/** Every key of the list, for its help and for the documentation. */
export const COCKPIT_KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ['↑ ↓ j k', 'select the session above or below; PgUp PgDn Home End go further'],
  ['Tab', 'select the next session that waits for you'],
  ['Enter', 'attach to the session; after /detach the list is as it was'],
  ['y n', 'open the question of the session with all that it decides; the keys answer only there'],
  ['d', 'read what the session changed'],
  ['p', 'type a prompt; while a turn runs, it waits for its end'],
  ['x', 'interrupt the running turn'],
  ['m', 'merge the branch of its worktree, after a question that says what is merged'],
  ['K', 'kill the session with all its processes, after a question'],
  ['/', 'filter by words of label, workspace, agent, state, host and branch; Esc shows all again'],
  ['g', 'group by workspace, by state, by host, or not'],
  ['s r', 'sort by the next column; reverse the order'],
  ['e', 'show or hide the sessions that ended more than a day ago'],
  ['?', 'this help'],
  ['q Esc Ctrl-C', 'quit; the sessions keep running'],
]

/** The most important first: a narrow terminal drops the last ones. */
export const HINTS = [
  'Enter attach',
  'y n answer',
  '? help',
  'Tab next',
  'd diff',
  'x interrupt',
  'm merge',
  '/ filter',
]
export const QUIT = 'q quits'

const KEYS_WIDTH = 16

/** The help, as rows of at most the width. */
export const cockpitHelp = ({ paint, width }: Frame): string[] =>
  COCKPIT_KEYS.flatMap(([keys, meaning]) =>
    wrap(meaning, width - KEYS_WIDTH).map(
      (row, index) => `  ${paint.bold(pad(index === 0 ? keys : '', KEYS_WIDTH - 2))}${row}`,
    ),
  )
