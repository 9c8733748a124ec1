import { defined, isLive } from '@agentproto/contracts'
import type { InputOf } from './input.js'
import { type Effect, type SessionState, step, type Step, URGENT } from './state.js'

/** Gives a session another label or title. The record has it at once, and who follows the log of a live one gets the title. */
export function rename(state: SessionState, { call, request }: InputOf<'rename'>): Step {
  const { title } = request
  const log: Effect[] =
    // After the end of a session only a resume adds to its log.
    typeof title === 'string' && isLive(state.session)
      ? [{ do: 'append', groups: [{ entries: [{ type: 'title', title }] }], hold: true }]
      : []
  return step(named(state, request), ...log, URGENT, { do: 'save' }, { do: 'reply', call })
}

const named = (
  { session, spawn, ...rest }: SessionState,
  { title, label }: InputOf<'rename'>['request'],
): SessionState => ({
  ...rest,
  session: defined({ ...session, title: nameAfter(session.title, title), label: nameAfter(session.label, label) }),
  // The agent's title does not replace it.
  spawn: defined({ ...spawn, title: nameAfter(spawn.title, title) }),
})

/** `null` removes a name. */
const nameAfter = (before: string | undefined, asked: string | null | undefined): string | undefined =>
  asked === undefined ? before : (asked ?? undefined)
