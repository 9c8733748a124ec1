import { asList, asRecord, asString, defined, type StoredAgentSession } from '@agentproto/contracts'
import { AGENT_BOUNDS } from './agent-bounds.js'

type Request = (method: string, params: object) => Promise<unknown>

/** Everything that the agent has stored, or that of one folder. */
export async function listStored(request: Request, cwd: string | undefined): Promise<readonly StoredAgentSession[]> {
  let sessions: readonly StoredAgentSession[] = []
  let cursor: string | undefined
  for (let page = 0; page < AGENT_BOUNDS.listPages && sessions.length < AGENT_BOUNDS.listedSessions; page++) {
    const result = asRecord(await request('session/list', defined({ cwd, cursor })))
    sessions = [...sessions, ...asList(result['sessions']).flatMap(storedOf)].slice(0, AGENT_BOUNDS.listedSessions)
    cursor = asString(result['nextCursor'])
    if (cursor === undefined) break
  }
  return sessions
}

function storedOf(entry: unknown): StoredAgentSession[] {
  const { sessionId, cwd, title, updatedAt } = asRecord(entry)
  if (typeof sessionId !== 'string') return []
  return [
    {
      agentSessionId: sessionId,
      ...defined({ cwd: asString(cwd), title: asString(title), updatedAt: asString(updatedAt) }),
    },
  ]
}
