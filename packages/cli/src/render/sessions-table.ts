import type { Session, SessionStateName } from '@agentproto/contracts'
import { ageSince } from './age.js'
import { changeCounts } from './change-counts.js'
import type { Frame } from './paint.js'
import { oneLine } from './printable.js'
import { orderMark, type SessionOrder, type SortKey } from './session-order.js'
import { sessionState, shortId } from './session-text.js'
import { renderTable, type Column } from './table.js'
import { costText } from './usage-text.js'

export interface SessionsView extends Frame {
  readonly sessions: readonly Session[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The last output line of each session, by id, if known. */
  readonly lastLines?: ReadonlyMap<string, string>
  /** The order, if the titles should show it. */
  readonly order?: SessionOrder | undefined
}

/** The table of `agentproto sessions`, as lines. */
export function renderSessions(view: SessionsView): string[] {
  if (view.sessions.length === 0) return ['No sessions. Start one with: agentproto sessions start <adapter>']
  const [titles = '', ...rows] = renderTable(columns(view), view.sessions, view.width)
  return [view.paint.bold(titles), ...rows]
}

function columns({ now, paint, lastLines, order, sessions }: SessionsView): Column<Session>[] {
  const since = (at: string): string => ageSince(at, now)
  const sortable = (title: string, key: SortKey): string =>
    order?.key === key ? `${title} ${orderMark(order)}` : title
  return [
    { title: 'ID', cell: ({ id }) => shortId(id), paint: paint.cyan },
    {
      title: sortable('TITLE', 'title'),
      cell: (session) => oneLine(session.label ?? session.title ?? '–'),
      shrinkTo: 12,
    },
    { title: sortable('ADAPTER', 'adapter'), cell: ({ adapterSlug }) => adapterSlug, shrinkTo: 8, dropOrder: 2 },
    { title: 'WORKSPACE', cell: ({ workspaceSlug }) => workspaceSlug, shrinkTo: 9, dropOrder: 5 },
    {
      title: sortable('STATE', 'state'),
      cell: sessionState,
      paint: (text, session) => paint[STATE_PAINT[sessionState(session)]](text),
    },
    ...changesColumn(sessions),
    { title: 'TURNS', cell: ({ turnCount }) => String(turnCount), align: 'right', dropOrder: 4 },
    ...costColumn(sessions),
    { title: sortable('AGE', 'age'), cell: ({ startedAt }) => since(startedAt), align: 'right', dropOrder: 1 },
    {
      title: sortable('LAST OUTPUT', 'activity'),
      cell: (session) => lastOutput(session, { since, line: lastLines?.get(session.id) }),
      paint: paint.dim,
      shrinkTo: 11,
      dropOrder: 3,
    },
  ]
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

function lastOutput(
  { lastOutputAt, failure }: Session,
  { since, line }: { since: (at: string) => string; line: string | undefined },
): string {
  if (failure !== undefined) return oneLine(failure.summary)
  const ago = lastOutputAt === undefined ? '–' : `${since(lastOutputAt)} ago`
  return line === undefined ? ago : `${ago}  ${oneLine(line)}`
}

const STATE_PAINT: Readonly<Record<SessionStateName, 'yellow' | 'green' | 'red' | 'dim'>> = {
  starting: 'yellow',
  waiting: 'yellow',
  busy: 'green',
  failed: 'red',
  idle: 'dim',
  asleep: 'dim',
  ended: 'dim',
}
