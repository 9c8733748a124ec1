import { AgentprotoError, isLive } from '@agentproto/contracts'
import { startingError } from '../lifecycle/ending.js'
import type { InputOf } from './input.js'
import { withRewind } from './prompt-context.js'
import { withTotals } from './recording.js'
import { andThen, type Call, type SessionState, step, type Step, URGENT } from './state.js'
import { send } from './turn.js'

/** Setting the files of the folder back: only between turns, and no prompt is sent meanwhile. */

/** @throws `session_starting`, `turn_in_progress`, `folder_in_use` */
export function beginRewind(state: SessionState, call: Call): Step {
  const { run, turn, queue, isSending, isRewinding } = state
  if (isRewinding) throw new AgentprotoError('folder_in_use', 'Files of the session are being set back already')
  if (run.phase === 'starting') throw startingError()
  if (turn.phase !== 'idle' || isSending || queue.length > 0)
    throw new AgentprotoError('turn_in_progress', 'A turn of the session is running', {
      hint: 'Rewind after the turn, or interrupt it',
    })
  return step({ ...state, isRewinding: true }, { do: 'reply', call })
}

/** Prompts are sent again. After the end of a session only a resume adds to its log. */
export function rewindOver(state: SessionState, { rewound }: InputOf<'rewind-over'>): Step {
  const over: SessionState = { ...state, isRewinding: false }
  if (rewound === undefined) return send(over)
  if (isLive(over.session)) {
    const logged = step(over, { do: 'append', groups: [{ entries: [rewound] }], hold: true })
    return andThen(logged, send)
  }
  return step({ ...withRewind(over, rewound), session: withTotals(over.session, rewound) }, URGENT, { do: 'save' })
}
