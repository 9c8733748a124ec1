import { NO_WORKSPACE, type Session, type SessionRequest } from '@agentproto/contracts'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { testSession } from '../../session-registry/test/fixtures/test-session.ts'

const AT = '2026-11-21T00:00:00.000Z'

/** A session that runs, as the fake's spawn makes it. */
export const newSession = (id: string, request: SpawnAgentRequest): Session =>
  testSession(id, {
    adapterSlug: request.adapter,
    workspaceSlug: request.workspaceSlug ?? NO_WORKSPACE,
    cwd: request.cwd ?? '/work',
    startedAt: AT,
    ...(request.label === undefined ? {} : { label: request.label }),
    hostId: 'host',
    lastActiveAt: AT,
    resumable: false,
    lastSeq: 1,
  })

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
