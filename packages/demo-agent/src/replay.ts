import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { ReplayEntry, StoredTurn } from './stored-session.js'

/** The stored history as `session/load` replays it. */
export function* replayUpdates(turns: readonly StoredTurn[]): Generator<SessionUpdate> {
  for (const { prompt, entries } of turns) {
    yield { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: prompt } }
    for (const entry of entries) yield entryUpdate(entry)
  }
}

function entryUpdate(entry: ReplayEntry): SessionUpdate {
  switch (entry.kind) {
    case 'message':
      return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: entry.text } }
    case 'thought':
      return { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: entry.text } }
    case 'tool': {
      const { toolCallId, title, toolKind: kind, failed } = entry
      return { sessionUpdate: 'tool_call', toolCallId, title, kind, status: failed ? 'failed' : 'completed' }
    }
  }
}
