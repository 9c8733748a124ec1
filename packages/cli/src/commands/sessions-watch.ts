import { EXIT, isLive, type Session, type SessionChange } from '@agentproto/contracts'
import { createLogUpdate } from 'log-update'
import { connect } from '../daemon.js'
import { paintOf, type Io } from '../io.js'
import type { SessionsOptions } from '../program/session-commands.js'
import { renderSessions } from '../render/sessions-table.js'
import { lastLineOf } from '../session-lines.js'
import { interruptible } from '../signals.js'

/** Ages are shown in seconds, so that the picture moves once a second at least, and ten times at most. */
const TICK_MS = 1_000
const FRAME_MS = 100

/** `agentproto sessions --watch`: the table, redrawn as sessions change. */
export async function watchSessions(io: Io, { alive }: SessionsOptions): Promise<number> {
  const client = await connect(io)
  const board = new Board((session) => alive !== true || isLive(session), (id) => lastLineOf(client, id))
  const log = createLogUpdate(io.stdout as NodeJS.WriteStream, { showCursor: false })
  const draw = (): void => log(board.frame(io))
  const frame = paced(draw)
  const ticks = setInterval(draw, TICK_MS)
  io.stdout.on('resize', draw)
  try {
    return await interruptible(async (signal) => {
      for await (const change of client.watch({ signal })) {
        board.apply(change, frame)
        frame()
      }
      return EXIT.ok
    })
  } finally {
    clearInterval(ticks)
    io.stdout.off('resize', draw)
    draw()
    log.done()
  }
}

/** What is known of all sessions, and how it looks. */
class Board {
  readonly #sessions = new Map<string, Session>()
  readonly #lastLines = new Map<string, string>()
  readonly #isShown: (session: Session) => boolean
  readonly #readLine: (id: string) => Promise<string | undefined>

  constructor(isShown: (session: Session) => boolean, readLine: (id: string) => Promise<string | undefined>) {
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
    if (isLive(change.session) && before?.lastOutputAt !== change.session.lastOutputAt) void this.#refreshLine(change.session.id, onLine)
  }

  frame(io: Io): string {
    const width = io.stdout.columns ?? 80
    const paint = paintOf(io, io.stdout)
    const shown = [...this.#sessions.values()].filter(this.#isShown).toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
    const lines = renderSessions({ sessions: shown, now: Date.now(), width, paint, lastLines: this.#lastLines })
    const room = Math.max(3, (io.stdout.rows ?? 24) - 2)
    const cut = lines.length > room ? [...lines.slice(0, room - 1), paint.dim(`… ${lines.length - room + 1} more`)] : lines
    return [...cut, paint.dim('Ctrl-C ends this view; the sessions go on.')].join('\n')
  }

  async #refreshLine(id: string, onLine: () => void): Promise<void> {
    const line = await this.#readLine(id)
    if (line === undefined || !this.#sessions.has(id)) return
    this.#lastLines.set(id, line)
    onLine()
  }
}

/** Calls at once, then at most once a frame. */
function paced(draw: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined
      draw()
    }, FRAME_MS)
    timer.unref()
  }
}
