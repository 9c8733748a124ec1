import type { Host } from '@agentproto/contracts/wire'
import { ageSince } from './age.js'
import type { Frame } from './paint.js'
import { oneLine } from './printable.js'
import { type Column, layoutTable, type TableLayout } from './table.js'

export interface HostsView extends Frame {
  readonly hosts: readonly Host[]
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The table of `agentproto hosts`, one line for each host, below the titles. */
export function renderHosts(view: HostsView): string[] {
  const { titles, line } = layoutHosts(view)
  return [view.paint.bold(titles), ...view.hosts.map(line)]
}

/** The columns of all hosts of a view, for the lines of some of them. */
export const layoutHosts = (view: HostsView): TableLayout<Host> => layoutTable(columns(view), view.hosts, view.width)

/** A narrow terminal drops the version first, then labels, workspaces, adapters and lag; never name, places and when it was seen. */
const columns = ({ now, paint }: HostsView): Column<Host>[] => [
  {
    title: ' ',
    cell: ({ reachable, stopped, self }) => (reachable ? (self === true ? '*' : '') : stopped === true ? '-' : '!'),
    paint: (text, { reachable, stopped }) =>
      reachable ? paint.green(text) : stopped === true ? paint.dim(text) : paint.red(text),
  },
  { title: 'HOST', cell: ({ name }) => oneLine(name), paint: paint.cyan, shrinkTo: 12 },
  {
    title: 'SEEN',
    cell: ({ lastSeen, reachable, stopped }) =>
      `${ageSince(lastSeen, now)}${reachable ? '' : stopped === true ? ', stopped' : ', unreachable'}`,
    paint: (text, { reachable, stopped }) => (reachable ? text : stopped === true ? paint.dim(text) : paint.red(text)),
    shrinkTo: 5,
  },
  { title: 'LIVE', cell: ({ liveSessions }) => String(liveSessions), align: 'right' },
  { title: 'FREE', cell: ({ freeSessions }) => String(freeSessions), align: 'right' },
  { title: 'LAG', cell: ({ lag }) => String(lag), align: 'right', dropOrder: 1 },
  { title: 'AGENTS', cell: ({ adapters }) => names(adapters), shrinkTo: 12, dropOrder: 2 },
  { title: 'WORKSPACES', cell: ({ workspaces }) => names(workspaces), shrinkTo: 12, dropOrder: 3 },
  { title: 'LABELS', cell: ({ labels }) => names(pairs(labels)), shrinkTo: 12, dropOrder: 4 },
  { title: 'VERSION', cell: ({ version }) => oneLine(version), dropOrder: 5 },
]

const names = (all: readonly string[]): string => (all.length === 0 ? '–' : oneLine(all.join(' ')))
const pairs = (labels: Host['labels']): string[] => Object.entries(labels).map(([key, value]) => `${key}=${value}`)
