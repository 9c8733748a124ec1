import type { ConnectionState } from '@agentproto/client'
import { isLive, type Session, type SessionStateName } from '@agentproto/contracts'
import type { SessionChange } from '@agentproto/contracts/wire'
import { isCtrl, type Key } from './attach/keyboard.js'
import { openLiveScreen } from './attach/live-screen.js'
import { paintFor, type CliContext } from './cli-context.js'
import { connect } from './daemon/connect.js'
import { cut } from './render/fit.js'
import { inOrder, nextKey, orderMark, type SessionOrder, type SortKey } from './render/session-order.js'
import { sessionState } from './render/session-text.js'
import { renderSessions } from './render/sessions-table.js'
import { noteOf } from './session-notes.js'

/** Ages are shown in seconds: the table is redrawn at least once and at most ten times per second. */
const TICK_MS = 1_000
const FRAME_MS = 100

interface WatchOptions {
  readonly alive?: boolean
  readonly state?: SessionStateName
  readonly sort?: SortKey
}

/** `agentproto sessions --watch`: the table, redrawn when sessions change, until q or Ctrl-C. */
export async function watchSessions(
  context: CliContext,
  { alive, state: shown, sort = 'age' }: WatchOptions,
): Promise<void> {
  const client = await connect(context, { reconnectMs: Number.MAX_SAFE_INTEGER })
  const board = new Board(
    (session) => (alive !== true || isLive(session)) && (shown === undefined || sessionState(session) === shown),
    (session) => noteOf(client, session),
  )
  board.order = { key: sort, isReversed: false }
  const quit = new AbortController()
  const screen = openLiveScreen(context, {
    rows: () => ({ live: { rows: board.rows(context) } }),
    onKey(key) {
      if (isCtrl(key, 'c') || key.name === 'q' || key.name === 'escape') quit.abort()
      else board.sortBy(key)
    },
    onStop: () => quit.abort(),
    frameMs: FRAME_MS,
    tickMs: TICK_MS,
  })
  try {
    const onState = (state: ConnectionState): void => {
      board.isDisconnected = state.state === 'reconnecting' && state.attempt > 0
      screen.update()
    }
    for await (const change of client.watch({ signal: quit.signal, onState })) {
      board.apply(change, () => screen.update())
      screen.update()
    }
  } catch (thrown) {
    if (!quit.signal.aborted) throw thrown
  } finally {
    screen.close(board.rows(context).slice(0, -1))
  }
}

/** All sessions and their order, as the rows of the screen. */
class Board {
  readonly #sessions = new Map<string, Session>()
  readonly #lastLines = new Map<string, string>()
  readonly #isShown: (session: Session) => boolean
  readonly #readLine: (session: Session) => Promise<string | undefined>
  isDisconnected = false
  order: SessionOrder = { key: 'age', isReversed: false }

  constructor(isShown: (session: Session) => boolean, readLine: (session: Session) => Promise<string | undefined>) {
    this.#isShown = isShown
    this.#readLine = readLine
  }

  apply(change: SessionChange, onLine: () => void): void {
    if (change.type === 'forgotten') {
      this.#sessions.delete(change.id)
      this.#lastLines.delete(change.id)
      return
    }
    const before = this.#sessions.get(change.session.id)
    this.#sessions.set(change.session.id, change.session)
    if (isLive(change.session) && before?.lastOutputAt !== change.session.lastOutputAt)
      void this.#refreshLine(change.session, onLine)
  }

  /** `s` sorts by the next column, `r` reverses the order. */
  sortBy({ name, ctrl, meta }: Key): void {
    if (ctrl || meta) return
    if (name === 's') this.order = nextKey(this.order)
    if (name === 'r') this.order = { ...this.order, isReversed: !this.order.isReversed }
  }

  rows(context: CliContext): string[] {
    const { columns: width = 80, rows: height = 24 } = context.stdout
    const paint = paintFor(context, context.stdout)
    const { order } = this
    const sessions = inOrder([...this.#sessions.values()].filter(this.#isShown), order)
    const lines = renderSessions({ sessions, order, now: Date.now(), width, paint, notes: this.#lastLines })
    const room = Math.max(3, height - 2)
    const fitting =
      lines.length > room ? [...lines.slice(0, room - 1), paint.dim(`… ${lines.length - room + 1} more`)] : lines
    const last = this.isDisconnected
      ? paint.yellow(cut('The gateway does not answer; reconnecting. q quits.', width))
      : paint.dim(
          cut(`q quits; the sessions keep running. s sorts (${order.key} ${orderMark(order)}), r reverses.`, width),
        )
    return [...fitting, last]
  }

  async #refreshLine(session: Session, onLine: () => void): Promise<void> {
    const line = await this.#readLine(session)
    if (line === undefined || !this.#sessions.has(session.id)) return
    this.#lastLines.set(session.id, line)
    onLine()
  }
}
