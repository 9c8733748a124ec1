import { type Session, type SessionStateName, STOP_REASON_TEXT } from '@agentproto/contracts'
import { ageSince } from './age.js'
import { changeCounts } from './change-counts.js'
import type { Frame } from './paint.js'
import { oneLine } from './printable.js'
import { orderMark, type SessionOrder, type SortKey } from './session-order.js'
import { sessionName, sessionState, shortId } from './session-text.js'
import { layoutTable, type Column, type TableLayout } from './table.js'
import { costText } from './usage-text.js'

export interface SessionsView extends Frame {
  readonly sessions: readonly Session[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** By id, if known: what a session that waits asks, else its last output line. */
  readonly notes?: ReadonlyMap<string, string>
  /** The order, if the titles should show it. */
  readonly order?: SessionOrder | undefined
}

/** The table of `agentproto sessions`, one line for each session, below the titles; of at least one. */
export function renderSessions(view: SessionsView): string[] {
  const { titles, line } = layoutSessions(view)
  return [view.paint.bold(titles), ...view.sessions.map(line)]
}

/** The columns of the sessions of a view, for the lines of some of them. */
export const layoutSessions = (view: SessionsView): TableLayout<Session> =>
  layoutTable(columns(view), view.sessions, view.width)

/** Longer texts of an agent say nothing more on one line. */
const MAX_NOTE = 400

/** A narrow terminal drops the id first, then cost, agent, workspace, changes and host, age and what it does; never state and label. */
function columns({ now, paint, notes, order, sessions }: SessionsView): Column<Session>[] {
  const sortable = (title: string, key: SortKey): string =>
    order?.key === key ? `${title} ${orderMark(order)}` : title
  return [
    {
      title: sortable('STATE', 'state'),
      cell: sessionState,
      paint: (text, session) => paint[STATE_PAINT[sessionState(session)]](text),
    },
    { title: sortable('LABEL', 'title'), cell: (session) => sessionName(session), shrinkTo: 12 },
    {
      title: sortable('DOING', 'activity'),
      cell: (session) => oneLine(doing(session, notes?.get(session.id)).slice(0, MAX_NOTE)),
      paint: (text, session) => (sessionState(session) === 'waiting' ? paint.yellow(text) : paint.dim(text)),
      shrinkTo: 14,
      dropOrder: 1,
    },
    ...hostColumn(sessions),
    { title: 'WORKSPACE', cell: ({ workspaceSlug }) => workspaceSlug, shrinkTo: 9, dropOrder: 4 },
    { title: sortable('AGENT', 'adapter'), cell: ({ adapterSlug }) => adapterSlug, shrinkTo: 8, dropOrder: 5 },
    { title: sortable('AGE', 'age'), cell: ({ startedAt }) => ageSince(startedAt, now), align: 'right', dropOrder: 2 },
    ...changesColumn(sessions),
    ...costColumn(sessions),
    { title: 'ID', cell: ({ id }) => shortId(id), paint: paint.cyan, dropOrder: 7 },
  ]
}

/** What it waits for, does, or ended by. */
function doing(session: Session, note = ''): string {
  const { failure, hostId, stopReason, turn } = session
  switch (sessionState(session)) {
    case 'waiting':
      return `? ${note === '' ? 'an answer' : note}`
    case 'busy':
      return turn.currentTool ?? note
    case 'starting':
    case 'idle':
      return note
    case 'unreachable':
      return `since ${hostId} is not heard from`
    case 'asleep':
    case 'ended':
    case 'failed':
      return failure?.summary ?? (stopReason === undefined ? '' : STOP_REASON_TEXT[stopReason])
  }
}

/** Only where they are of several hosts. */
function hostColumn(sessions: readonly Session[]): Column<Session>[] {
  const [first] = sessions
  if (sessions.every(({ hostId }) => hostId === first?.hostId)) return []
  return [{ title: 'HOST', cell: ({ hostId }) => oneLine(hostId), shrinkTo: 8, dropOrder: 3 }]
}

/** Where the folder of a session was recorded. */
const changesColumn = (sessions: readonly Session[]): Column<Session>[] =>
  sessions.some(({ changes }) => changes !== undefined)
    ? [
        {
          title: 'CHANGES',
          cell: ({ changes }) => (changes === undefined ? '–' : changeCounts(changes)),
          align: 'right',
          dropOrder: 3,
        },
      ]
    : []

/** Only where an agent has reported a cost. */
const costColumn = (sessions: readonly Session[]): Column<Session>[] =>
  sessions.some(({ usage }) => usage?.cost !== undefined)
    ? [{ title: 'COST', cell: ({ usage }) => costText(usage?.cost), align: 'right', dropOrder: 6 }]
    : []

const STATE_PAINT: Readonly<Record<SessionStateName, 'yellow' | 'green' | 'red' | 'dim'>> = {
  starting: 'yellow',
  waiting: 'yellow',
  busy: 'green',
  failed: 'red',
  unreachable: 'red',
  idle: 'dim',
  asleep: 'dim',
  ended: 'dim',
}
