import { isLive, type Session } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { cut } from '../render/fit.js'
import { sessionName } from '../render/session-text.js'
import type { Confirmation } from './confirm-dialog.js'
import type { SessionList } from './session-list.js'

/** What a key asks the program to do, with the session that was shown as selected. */
export type CockpitAction =
  | {
      readonly type: 'attach' | 'ask' | 'diff' | 'interrupt' | 'propose-merge' | 'merge' | 'kill'
      readonly session: Session
    }
  | { readonly type: 'prompt'; readonly session: Session; readonly text: string }
  | {
      readonly type: 'answer'
      readonly session: Session
      readonly requestId: string
      readonly answer: AnswerRequest
    }
  | { readonly type: 'quit' }

/** What a key does with the selected session. */
export type Command = 'attach' | 'ask' | 'diff' | 'interrupt' | 'propose-merge' | 'kill' | 'prompt'

/** A capital K kills, since k selects the session above. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  return: 'attach',
  enter: 'attach',
  y: 'ask',
  n: 'ask',
  d: 'diff',
  x: 'interrupt',
  m: 'propose-merge',
  K: 'kill',
  p: 'prompt',
}

/** Why a command cannot be done to a session; undefined if it can be tried. */
export function problemWith(command: Command, session: Session): string | undefined {
  const name = sessionName(session)
  if (command === 'ask' && session.state !== 'waiting') return `${name} asks nothing.`
  if (command === 'interrupt' && session.turn.state === 'idle') return `${name} has no running turn.`
  if (command === 'propose-merge' && session.worktree === undefined)
    return `${name} has no worktree of its own; there is nothing to merge.`
  if (command === 'kill' && !isLive(session)) return `${name} has ended already.`
  return undefined
}

/** Asks before a session is killed. */
export const killing = (session: Session): Confirmation => ({
  question: `Kill ${sessionName(session)} with all its processes?`,
  rows: ({ width }) =>
    [
      `  agent      ${session.adapterSlug}`,
      `  workspace  ${session.workspaceSlug}`,
      session.turn.state === 'idle' ? '  No turn is running.' : '  Its running turn ends.',
      '  Its log stays.',
    ].map((row) => cut(row, width)),
  verb: 'kills',
})

/** What the keys that select a session do. */
export const MOVES: Readonly<Record<string, (list: SessionList) => void>> = {
  up: (list) => list.move(-1),
  down: (list) => list.move(1),
  k: (list) => list.move(-1),
  j: (list) => list.move(1),
  pageup: (list) => list.movePage(-1),
  pagedown: (list) => list.movePage(1),
  home: (list) => list.moveTo('first'),
  end: (list) => list.moveTo('last'),
}
