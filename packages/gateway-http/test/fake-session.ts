import type { Session, SessionRequest } from '@agentproto/contracts'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'

const AT = '2026-11-21T00:00:00.000Z'

/** A session that runs, as the fake's spawn makes it. */
export function newSession(id: string, request: SpawnAgentRequest): Session {
  return {
    id,
    adapterSlug: request.adapter,
    workspaceSlug: request.workspaceSlug ?? 'default',
    cwd: request.cwd ?? '/work',
    status: 'running',
    startedAt: AT,
    ...(request.label === undefined ? {} : { label: request.label }),
    hostId: 'host',
    type: 'user',
    state: 'idle',
    attachable: true,
    wakeable: false,
    turnCount: 0,
    turn: { number: 0, state: 'idle' },
    lastActiveAt: AT,
    connection: 'connected',
    resumable: false,
    permissionMode: 'ask',
    warnings: [],
    pendingRequests: 0,
    lastSeq: 1,
  }
}

/** What the fake's agent asks. */
export const permission = (sessionId: string, turn: number): SessionRequest => ({
  requestId: 'r1',
  sessionId,
  turn,
  request: {
    kind: 'permission',
    toolCall: { type: 'tool-call', toolCallId: 't1', title: 'write a file' },
    options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
  },
  state: 'pending',
  createdAt: AT,
})
