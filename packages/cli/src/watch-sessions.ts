import type { Client, ConnectionState } from '@agentproto/client'
import type { SessionChange } from '@agentproto/contracts/wire'
import type { Key } from './attach/keyboard.js'
import { openLiveScreen } from './attach/live-screen.js'
import { paintFor, type CliContext } from './cli-context.js'
import { type Cockpit, performAction } from './cockpit/cockpit-actions.js'
import { CockpitScreen } from './cockpit/cockpit-screen.js'
import { NoteFeed } from './cockpit/note-feed.js'
import { QuestionsFeed } from './cockpit/questions-feed.js'
import { connect } from './daemon/connect.js'
import type { SortKey } from './render/session-order.js'
import { filterOf, type SessionListOptions } from './session-list-options.js'
import { openRing } from './requests/ring.js'
import { noteOf } from './session-notes.js'

/** Ages are shown in seconds; a guard of keys changes what it says within one: redrawn at least and at most so often. */
const TICK_MS = 250
const FRAME_MS = 100

interface WatchOptions extends SessionListOptions {
  readonly sort?: SortKey
  /** Whether the person chooses one session to attach to, and the list ends with that. */
  readonly isPicker?: boolean
}

/** `agentproto sessions --watch`: every session on a line, kept up to date, and keys to act on them, until q or Ctrl-C. */
export async function watchSessions(context: CliContext, options: WatchOptions): Promise<void> {
  const client = await connect(context, { reconnectMs: Number.MAX_SAFE_INTEGER })
  const screen = new CockpitScreen({
    order: { key: options.sort ?? 'age', isReversed: false },
    filterAt: (now, all) => filterOf({ ...options, all }, now),
    all: options.all === true,
  })
  const quit = new AbortController()
  const view = openView(context, screen, { onKey: (key) => handle(key), onStop: () => quit.abort() })
  const cockpit: Cockpit = {
    context,
    client,
    screen,
    questions: questionsFor(client, screen),
    lend: (use) => view.lend(use),
    quit: () => quit.abort(),
    isPicker: options.isPicker === true,
  }
  function handle(key: Key): void {
    const now = Date.now()
    const action = screen.key(key, now)
    if (action !== undefined) void performAction(cockpit, action, { key, now }).finally(() => view.update())
  }
  try {
    await follow(cockpit, { signal: quit.signal, update: () => view.update() })
  } catch (thrown) {
    if (!quit.signal.aborted) throw thrown
  } finally {
    view.close()
  }
}

interface ViewEvents {
  readonly onKey: (key: Key) => void
  readonly onStop: () => void
}

function openView(context: CliContext, screen: CockpitScreen, events: ViewEvents): ReturnType<typeof openLiveScreen> {
  const { stdout } = context
  const paint = paintFor(context, stdout)
  return openLiveScreen(context, {
    ...events,
    rows() {
      const { columns: width = 80, rows: height = 24 } = stdout
      return { live: screen.view({ paint, width, height, now: Date.now() }) }
    },
    frameMs: FRAME_MS,
    tickMs: TICK_MS,
  })
}

/** Shows the changes of all sessions until the signal aborts. */
async function follow(
  cockpit: Cockpit,
  { signal, update }: { readonly signal: AbortSignal; readonly update: () => void },
): Promise<void> {
  const { context, client, screen } = cockpit
  const notes = notesFor(client, screen, update)
  const ring = await openRing(context)
  const refresh = setInterval(() => notes.refresh(screen.list.visible), FRAME_MS)
  const onState = (state: ConnectionState): void => {
    screen.setConnected(!(state.state === 'reconnecting' && state.attempt > 0))
    update()
  }
  try {
    for await (const change of client.watch({ signal, onState })) {
      applyChange(cockpit, notes, change)
      ring(change)
      update()
    }
  } finally {
    clearInterval(refresh)
  }
}

const notesFor = (client: Client, screen: CockpitScreen, update: () => void): NoteFeed =>
  new NoteFeed({
    read: (session) => noteOf(client, session),
    onNote(id, note) {
      screen.list.setNote(id, note)
      update()
    },
  })

const questionsFor = (client: Client, screen: CockpitScreen): QuestionsFeed =>
  new QuestionsFeed({
    read: ({ id }) => client.sessions.requests(id),
    open: (session, pending) => screen.openQuestions(session, pending),
    update: (session, pending) => screen.updateQuestions(session, pending),
  })

function applyChange(cockpit: Cockpit, notes: NoteFeed, change: SessionChange): void {
  const { screen, questions } = cockpit
  const before = change.type === 'session' ? screen.list.get(change.session.id) : undefined
  screen.apply(change)
  if (change.type !== 'session') return
  const { session } = change
  notes.changed(session, before)
  if (screen.asked?.id === session.id && before?.pendingRequests !== session.pendingRequests)
    // The dialog stays as it is when the requests cannot be read; an answer to a gone one is refused.
    void questions.update(session).catch(() => undefined)
}
