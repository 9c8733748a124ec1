import { isLive } from '@agentproto/contracts'
import { MOVED } from '../lifecycle/moved.js'
import type { InputOf } from './input.js'
import { end } from './run.js'
import { andThen, type SessionState, step, type Step, URGENT } from './state.js'

/** Another host has the session: the record says so before anything else is done, and what runs here is ended. */
export function giveUp(state: SessionState, { call, to }: InputOf<'give-up'>): Step {
  const { session, run } = state
  const given: SessionState = { ...state, isMuted: true, session: { ...session, movedTo: to, resumable: false } }
  if (run.phase !== 'ended' || isLive(session))
    return andThen(step(given, { do: 'save' }), (after) => end(after, MOVED, call))
  const { stopReason } = MOVED
  const ended = { ...given, session: { ...given.session, stopReason } }
  return step(ended, { do: 'save' }, URGENT, { do: 'reply', call, value: { ok: false } })
}
