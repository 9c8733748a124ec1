import type { StoredAgentSession } from '@agentproto/contracts'
import { defined, list, record, text } from '@agentproto/arm-kit'

/** Pages of `session/list` that are read. */
const MAX_PAGES = 100

type Request = (method: string, params: object) => Promise<unknown>

/** Everything that the agent has stored, or that of one folder. */
export async function listStored(request: Request, cwd: string | undefined): Promise<readonly StoredAgentSession[]> {
  const sessions: StoredAgentSession[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = record(await request('session/list', defined({ cwd, cursor })))
    sessions.push(...list(result['sessions']).flatMap(storedOf))
    cursor = text(result['nextCursor'])
    if (cursor === undefined) break
  }
  return sessions
}

function storedOf(entry: unknown): StoredAgentSession[] {
  const { sessionId, cwd, title, updatedAt } = record(entry)
  if (typeof sessionId !== 'string') return []
  return [{ agentSessionId: sessionId, ...defined({ cwd: text(cwd), title: text(title), updatedAt: text(updatedAt) }) }]
}
