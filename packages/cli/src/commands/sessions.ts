import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { isInteractive, paintOf, print, printJson, widthOf, type Io } from '../io.js'
import { inOrder, type SessionOrder } from '../render/session-order.js'
import type { SessionsView } from '../render/sessions-table.js'
import { lastLinesOf } from '../session-lines.js'
import type { SessionsOptions } from './sessions-options.js'

/** `agentproto sessions`: the table, or one of its live forms. */
export async function showSessions(io: Io, options: SessionsOptions): Promise<number> {
  if (options.attach !== undefined) return (await import('./sessions-attach.js')).attachSession(io, options.attach)
  if (options.tree === true && options.json !== true) return (await import('./sessions-tree.js')).showTree(io, options)
  if (options.watch === true && options.json !== true && isInteractive(io)) {
    return (await import('./sessions-watch.js')).watchSessions(io, options)
  }
  const client = await connect(io)
  const { sessions } = await client.sessions.list(options.alive === true ? { onlyAlive: true } : {})
  const order: SessionOrder | undefined = options.sort && { key: options.sort, isReversed: false }
  const sorted = order === undefined ? sessions : inOrder(sessions, order)
  if (options.json === true) printJson(io, { sessions: sorted })
  else await printTable(io, { sessions: sorted, lastLines: await lastLinesOf(client, sorted), order })
  return EXIT.ok
}

/** The table is loaded when there is one: measuring text costs more than asking the gateway. */
async function printTable(io: Io, shown: Pick<SessionsView, 'sessions' | 'lastLines' | 'order'>): Promise<void> {
  const { renderSessions } = await import('../render/sessions-table.js')
  const frame = { now: Date.now(), width: widthOf(io.stdout), paint: paintOf(io, io.stdout) }
  print(io.stdout, renderSessions({ ...shown, ...frame }))
}
