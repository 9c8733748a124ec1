import type { CommandFiles, CommandResult, Define } from '../../cli-command.js'
import { isInteractive, paintFor, widthOf, type CliContext } from '../../cli-context.js'
import type { JsonOption } from '../../command-definition.js'
import { connect } from '../../daemon/connect.js'
import { inOrder, SORT_KEYS, type SessionOrder, type SortKey } from '../../render/session-order.js'
import {
  addSessionListOptions,
  filterOf,
  hiddenNote,
  noSessions,
  type SessionListOptions,
} from '../../session-list-options.js'
import { notesOf } from '../../session-notes.js'

const HELP = `
Examples:
  $ agentproto sessions --watch
  $ agentproto sessions --sort state
  $ agentproto sessions --workspace shop --since 2h
  $ agentproto sessions --attach
  $ agentproto sessions start demo --label try --attach
  $ agentproto sessions prompt try "read README.md" --wait
  $ agentproto sessions answer try --allow
  $ agentproto sessions events try -f
  $ agentproto sessions diff try

In --watch, the keys act on the selected session: Enter attaches, y opens its question, ? lists all keys.
<id> is the id of a session, its first characters, or the label.`

interface SessionsOptions extends JsonOption, SessionListOptions {
  readonly watch?: boolean
  /** True without an id. */
  readonly attach?: string | true
  readonly tree?: boolean
  readonly sort?: SortKey
}

export const define: Define = (command) => {
  command
    .description('list, watch, attach to and drive sessions')
    .enablePositionalOptions()
    .option('-w, --watch', 'show the list live, with keys to act on each session')
    .option('-a, --attach [id]', 'talk to a session; without an id, to one that you choose')
    .choice('--sort <column>', 'column to sort by, also for --watch', SORT_KEYS)
  addSessionListOptions(command)
    .option('--tree', 'show each session below the one that started it')
    .json()
    .addHelpText('after', HELP)
    .run(show)
}

/** Without a further word, `sessions` is the list. */
export const runsAlone = true

export const children: CommandFiles = {
  start: () => import('./start.js'),
  prompt: () => import('./prompt.js'),
  wait: () => import('./wait.js'),
  interrupt: () => import('./interrupt.js'),
  resume: () => import('./resume.js'),
  kill: () => import('./kill.js'),
  rm: () => import('./rm.js'),
  show: () => import('./show.js'),
  config: () => import('./config.js'),
  rename: () => import('./rename.js'),
  fork: () => import('./fork.js'),
  diff: () => import('./diff.js'),
  review: () => import('./review.js'),
  rewind: () => import('./rewind.js'),
  merge: () => import('./merge.js'),
  discard: () => import('./discard.js'),
  answer: () => import('./answer.js'),
  logs: () => import('./logs.js'),
  events: () => import('./events.js'),
  search: () => import('./search.js'),
  export: () => import('./export.js'),
  import: () => import('./import.js'),
  prune: () => import('./prune.js'),
  repair: () => import('./repair.js'),
}

async function show(context: CliContext, options: SessionsOptions): Promise<CommandResult | void> {
  const { attach, json, tree, watch } = options
  if (attach === true) return (await import('../../attach/attach-chosen.js')).attachChosen(context, options)
  if (attach !== undefined) return (await import('../../attach/attach-session.js')).attachSession(context, attach)
  if (json !== true && tree === true) return (await import('../../session-tree.js')).printTree(context, options)
  if (json !== true && watch === true && isInteractive(context))
    return (await import('../../watch-sessions.js')).watchSessions(context, options)
  return list(context, options)
}

async function list(context: CliContext, options: SessionsOptions): Promise<CommandResult> {
  const { sort, json } = options
  const client = await connect(context)
  const { sessions, hidden } = await client.sessions.list(filterOf(options, Date.now()))
  const order: SessionOrder | undefined = sort && { key: sort, isReversed: false }
  const sorted = order === undefined ? sessions : inOrder(sessions, order)
  if (json === true) return { json: { sessions: sorted, hidden: hidden ?? 0 } }
  if (sessions.length === 0) return { text: noSessions(options), note: hiddenNote(hidden) }
  // Loaded only for a table: measuring text takes longer to load than the gateway to answer.
  const { renderSessions } = await import('../../render/sessions-table.js')
  const { stdout } = context
  const frame = { now: Date.now(), width: widthOf(stdout), paint: paintFor(context, stdout) }
  const text = renderSessions({ sessions: sorted, notes: await notesOf(client, sorted), order, ...frame })
  return { text, note: hiddenNote(hidden) }
}
