import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { ReplayEntry, StoredTurn } from './stored-session.js'
import { textUpdate } from './turn.js'

/** The stored history as `session/load` replays it. */
export function* replayUpdates(turns: readonly StoredTurn[]): Generator<SessionUpdate> {
  for (const { prompt, entries } of turns) {
    yield textUpdate('user_message', prompt)
    for (const entry of entries) yield entryUpdate(entry)
  }
}

function entryUpdate(entry: ReplayEntry): SessionUpdate {
  if (entry.kind !== 'tool') return textUpdate(`agent_${entry.kind}`, entry.text)
  const { toolCallId, title, toolKind: kind, failed } = entry
  return { sessionUpdate: 'tool_call', toolCallId, title, kind, status: failed ? 'failed' : 'completed' }
}
