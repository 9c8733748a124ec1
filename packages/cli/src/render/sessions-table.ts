import type { Session } from '@agentproto/contracts'
import { age } from './age.js'
import type { Frame, Paint } from './paint.js'
import { oneLine } from './printable.js'
import { orderMark, type SessionOrder, type SortKey } from './session-order.js'
import { sessionState, shortId } from './session-text.js'
import { renderTable, type Column } from './table.js'

export interface SessionsView extends Frame {
  readonly sessions: readonly Session[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The last output line of each session, by id, if known. */
  readonly lastLines?: ReadonlyMap<string, string>
  /** The order, if the titles should show it. */
  readonly order?: SessionOrder | undefined
}

const TITLES: Readonly<Record<SortKey, string>> = {
  age: 'AGE',
  state: 'STATE',
  title: 'TITLE',
  adapter: 'ADAPTER',
  activity: 'LAST OUTPUT',
}

/** The table of `agentproto sessions`, as lines. */
export function renderSessions(view: SessionsView): string[] {
  if (view.sessions.length === 0) return ['No sessions. Start one with: agentproto sessions start <adapter>']
  const [titles = '', ...rows] = renderTable(marked(columns(view), view.order), view.sessions, view.width)
  return [view.paint.bold(titles), ...rows]
}

function marked(all: readonly Column<Session>[], order: SessionOrder | undefined): readonly Column<Session>[] {
  if (order === undefined) return all
  const title = TITLES[order.key]
  return all.map((column) => (column.title === title ? { ...column, title: `${title} ${orderMark(order)}` } : column))
}

function columns({ now, paint, lastLines }: SessionsView): Column<Session>[] {
  const since = (at: string): string => age(now - Date.parse(at))
  return [
    { title: 'ID', cell: ({ id }) => shortId(id), paint: paint.cyan },
    { title: 'TITLE', cell: (session) => oneLine(session.label ?? session.title ?? '–'), shrinkTo: 12 },
    { title: 'ADAPTER', cell: ({ adapterSlug }) => adapterSlug, shrinkTo: 8, dropOrder: 2 },
    { title: 'WORKSPACE', cell: ({ workspaceSlug }) => workspaceSlug, shrinkTo: 9, dropOrder: 5 },
    { title: 'STATE', cell: sessionState, paint: (text, session) => paintState(paint, session)(text) },
    { title: 'TURNS', cell: ({ turnCount }) => String(turnCount), align: 'right', dropOrder: 4 },
    { title: 'AGE', cell: ({ startedAt }) => since(startedAt), align: 'right', dropOrder: 1 },
    {
      title: 'LAST OUTPUT',
      cell: (session) => lastOutput(session, { since, line: lastLines?.get(session.id) }),
      paint: paint.dim,
      shrinkTo: 11,
      dropOrder: 3,
    },
  ]
}

function lastOutput(
  { lastOutputAt, failure }: Session,
  { since, line }: { since: (at: string) => string; line: string | undefined },
): string {
  if (failure !== undefined) return oneLine(failure.summary)
  const ago = lastOutputAt === undefined ? '–' : `${since(lastOutputAt)} ago`
  return line === undefined ? ago : `${ago}  ${oneLine(line)}`
}

function paintState(paint: Paint, session: Session): (text: string) => string {
  const state = sessionState(session)
  if (state === 'awaiting input' || state === 'starting') return paint.yellow
  if (state === 'busy') return paint.green
  return state === 'error' ? paint.red : paint.dim
}
