import type { Client, ConnectionState } from '@agentproto/client'
import { isAgentprotoError } from '@agentproto/contracts'
import { openLiveScreen } from '../attach/live-screen.js'
import { paintFor, type CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { type InboxAction, InboxScreen } from './inbox-screen.js'
import { openRing } from './ring.js'
import { WaitingFeed } from './waiting-feed.js'

const FRAME_MS = 50
/** What a dialog shows changes by itself. */
const TICK_MS = 100

interface InboxOptions {
  /** Whether it stays when nothing waits. */
  readonly isStaying: boolean
}

/** Shows every request that waits, one at a time, until none does, or a key quits. */
export async function answerInTerminal(context: CliContext, { isStaying }: InboxOptions): Promise<void> {
  const client = await connect(context, { reconnectMs: Number.MAX_SAFE_INTEGER })
  const screen = new InboxScreen()
  const feed = new WaitingFeed(client)
  const { changes, unanswered } = await feed.open()
  for (const change of changes) screen.apply(change)
  screen.silent = unanswered
  const ring = await openRing(context)
  const quit = new AbortController()
  const view = openInbox(context, screen, {
    onAction: (action) => (action.type === 'quit' ? quit.abort() : void answer(client, screen, action)),
    onStop: () => quit.abort(),
  })
  const onState = (state: ConnectionState): void => {
    screen.isDisconnected = state.state === 'reconnecting' && state.attempt > 0
    view.update()
  }
  try {
    if (screen.isEmpty && !isStaying) return
    for await (const change of client.watch({ signal: quit.signal, onState })) {
      for (const each of await feed.apply(change)) screen.apply(each)
      screen.seen(change)
      ring(change)
      view.update()
      if (screen.isEmpty && !isStaying) return
    }
  } catch (thrown) {
    if (!quit.signal.aborted) throw thrown
  } finally {
    view.close()
  }
}

interface InboxKeys {
  readonly onAction: (action: InboxAction) => void
  readonly onStop: () => void
}

function openInbox(context: CliContext, screen: InboxScreen, { onAction, onStop }: InboxKeys) {
  const { stdout } = context
  const paint = paintFor(context, stdout)
  const rows = () => {
    const { columns: width = 80, rows: height = 24 } = stdout
    const frame = { paint, width }
    return {
      finished: screen.takeFinished(frame),
      live: screen.view({ ...frame, height, now: Date.now() }),
    }
  }
  const view = openLiveScreen(context, {
    rows,
    onKey(key) {
      const action = screen.key(key, Date.now())
      if (action !== undefined) onAction(action)
    },
    onStop,
    frameMs: FRAME_MS,
    tickMs: TICK_MS,
  })
  return {
    update: () => view.update(),
    close(): void {
      const { finished, live } = rows()
      view.close(screen.isEmpty ? [...finished, ...live.rows.map((row) => row.replace(' q quits.', ''))] : finished)
    },
  }
}

/** The change of the session removes it from the screen; a failure stays there as a note. */
async function answer(
  client: Client,
  screen: InboxScreen,
  { asked, answer: given }: InboxAction & { readonly type: 'answer' },
): Promise<void> {
  try {
    await client.sessions.answer(asked.session.id, asked.requestId, given)
  } catch (thrown) {
    screen.failed(asked, isAgentprotoError(thrown) ? thrown.message : String(thrown))
  }
}
