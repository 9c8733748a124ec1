import type { Session, SessionEvent, SessionTurn } from '@agentproto/contracts'
import type { SessionState } from './state.js'

/** What each event of the log says of its session: the descriptor is a projection of them. */
export function describe(state: SessionState, event: SessionEvent): Session {
  const { session } = state
  switch (event.type) {
    case 'text-delta':
    case 'thought':
    case 'error':
    case 'output':
    case 'agent-prompt':
    case 'plan':
    case 'notice':
      return active(session, event)
    case 'tool-call': {
      const { currentTool: known } = session.turn
      return active(session, event, { currentTool: event.toolName ?? event.title ?? known ?? event.toolCallId })
    }
    case 'tool-result': {
      const { currentTool: _, ...turn } = session.turn
      return active({ ...session, turn }, event)
    }
    case 'user-prompt':
      return begin(session, event)
    case 'turn-end':
      return active({ ...session, turn: { number: session.turn.number, state: 'idle' } }, event)
    case 'title':
      return { ...session, title: state.spawn.title ?? event.title.slice(0, MAX_TITLE) }
    case 'config':
      // An event of the permission mode is the host's own, and says nothing about the agent.
      return 'permissionMode' in event
        ? { ...session, permissionMode: event.permissionMode }
        : { ...session, config: { ...session.config, ...event.config } }
    case 'status':
      return event.status === 'starting' ? restarted(session) : { ...session, status: event.status }
    case 'session-stopped':
      return stopped(session, event)
    case 'agent-prompt-resolved':
    case 'usage':
    case 'extension':
    case 'runtime-progress':
    case 'runtime-warning':
    case 'repair':
      return session
  }
}

/** The descriptor with one more warning for people. */
export function withWarning(session: Session, warning: string): Session {
  const { warnings } = session
  if (warnings.length >= MAX_WARNINGS || warnings.includes(warning)) return session
  return { ...session, warnings: [...warnings, warning] }
}

const MAX_TITLE = 80
const MAX_WARNINGS = 20

function active(session: Session, event: SessionEvent, turn: Partial<SessionTurn> = {}): Session {
  return {
    ...session,
    lastOutputAt: event.ts,
    lastActiveAt: event.ts,
    turn: { ...session.turn, ...turn, lastActivityAt: event.ts, lastActivityKind: event.type },
  }
}

function begin(session: Session, event: SessionEvent & { readonly type: 'user-prompt' }): Session {
  const number = event.turn ?? session.turnCount + 1
  const text = event.content.find((block) => block.type === 'text')?.text
  const title = session.title ?? (text === undefined ? undefined : titleOf(text))
  return {
    ...session,
    turnCount: number,
    ...(event.sent === false ? { unsentTurns: (session.unsentTurns ?? 0) + 1 } : {}),
    lastActiveAt: event.ts,
    turn: { number, state: 'busy', startedAt: event.ts, lastActivityAt: event.ts, lastActivityKind: event.type },
    ...(title === undefined ? {} : { title }),
  }
}

/** A resume: what the last end said is no longer true. */
function restarted(session: Session): Session {
  const { endedAt: _e, stopReason: _s, failure: _f, exitCode: _c, signal: _g, ...rest } = session
  return { ...rest, status: 'starting' }
}

function stopped(session: Session, event: SessionEvent & { readonly type: 'session-stopped' }): Session {
  const { stopReason, failure, exitCode, signal } = event
  return {
    ...session,
    endedAt: event.ts,
    stopReason,
    connection: 'disconnected',
    ...(failure === undefined ? {} : { failure }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    turn: { number: session.turn.number, state: 'idle' },
  }
}

/** The first line of the first prompt, cut at a word. */
function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  if (line.length <= MAX_TITLE) return line
  const cut = line.slice(0, MAX_TITLE - 1)
  const space = cut.lastIndexOf(' ')
  return `${cut.slice(0, space > MAX_TITLE / 2 ? space : cut.length)}…`
}
