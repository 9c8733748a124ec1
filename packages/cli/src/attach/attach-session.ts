import { EventEmitter, once } from 'node:events'
import { type EventGap, isAgentprotoError, isLive, type Session, summaryOf } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { isInteractive, paintFor, print, type CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { withAttachments } from '../prompt/prompt-text.js'
import { Transcript } from '../render/transcript.js'
import { findSession } from '../session-ref.js'
import { interruptible } from '../signals.js'
import { AttachScreen, type AttachAction } from './attach-screen.js'
import { openLiveScreen } from './live-screen.js'
import { sessionFeed } from './session-feed.js'

/** Earlier turns are not shown; `sessions events` prints them. */
const SHOWN_TURNS = 10
/** At most thirty frames per second, at any speed of the agent. */
const FRAME_MS = 33
const TICK_MS = 250

/** `agentproto sessions --attach`: the live transcript, and at a terminal a line to type in. */
export async function attachSession(context: CliContext, ref: string): Promise<void> {
  const client = await connect(context, isInteractive(context) ? { reconnectMs: Number.MAX_SAFE_INTEGER } : {})
  const session = await findSession(client, ref)
  const attached: Attached = { context, client, session, after: await firstShown(client, session) }
  if (isInteractive(context)) await attachTerminal(attached)
  else await printTranscript(attached)
}

interface Attached {
  readonly context: CliContext
  readonly client: Client
  readonly session: Session
  /** Events after this one are shown. */
  readonly after: number
}

async function firstShown(client: Client, { id, turnCount }: Session): Promise<number> {
  if (turnCount <= SHOWN_TURNS) return 0
  const [first] = await client.sessions.turns(id, { after: turnCount - SHOWN_TURNS, limit: 1 })
  return (first?.firstSeq ?? 1) - 1
}

/** For a pipe: finished rows, until the session ends or Ctrl-C. */
async function printTranscript({ context, client, session, after }: Attached): Promise<void> {
  const { stdout } = context
  const transcript = new Transcript({ paint: paintFor(context, stdout), width: () => stdout.columns ?? 100 })
  await interruptible(async (signal) => {
    const onGap = (gap: EventGap): void => print(stdout, gapLine(gap))
    for await (const event of client.sessions.events(session.id, { after, signal, onGap })) {
      const rows = transcript.apply(event)
      if (rows.length > 0) print(stdout, rows)
    }
  })
}

async function attachTerminal(attached: Attached): Promise<void> {
  const { context, client, session, after } = attached
  const { stdout } = context
  const paint = paintFor(context, stdout)
  const screen = new AttachScreen({
    session,
    paint,
    width: () => stdout.columns ?? 80,
    height: () => stdout.rows ?? 24,
  })
  const controls: Controls = { screen, detached: new AbortController(), prompts: new EventEmitter() }
  const { signal } = controls.detached
  if (after > 0) print(stdout, paint.dim(`… earlier turns: agentproto sessions events ${session.id}`))
  const view = openLiveScreen(context, {
    rows: () => ({ finished: screen.takeFinished(), live: screen.live(Date.now()) }),
    onKey(key) {
      const action = screen.key(key, Date.now())
      if (action !== undefined) void perform(attached, controls, action).finally(() => view.update())
    },
    onStop: () => controls.detached.abort(),
    frameMs: FRAME_MS,
    tickMs: TICK_MS,
  })
  const shown = (change: () => void): void => {
    change()
    view.update()
  }
  const events = sessionFeed({
    client,
    session,
    after,
    signal,
    onConnection: (isConnected) => shown(() => screen.setConnected(isConnected)),
    onGap: (gap) => shown(() => screen.note(gapLine(gap))),
    nextPrompt: async () => void (await once(controls.prompts, 'sent', { signal }).catch(() => undefined)),
  })
  try {
    for await (const event of events) shown(() => screen.apply(event))
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  } finally {
    view.close()
  }
  await printFarewell(attached)
}

/** The same words as in the gateway's output lines. */
const gapLine = ({ after, first }: EventGap): string =>
  `[gap] ${first === after + 2 ? `event ${after + 1}` : `events ${after + 1} to ${first - 1}`} cannot be read any more`

interface Controls {
  readonly screen: AttachScreen
  readonly detached: AbortController
  /** Emits `sent` when this client has sent a prompt. */
  readonly prompts: EventEmitter
}

/** Performs the action of a key; the screen shows a failure. */
async function perform(
  { context, client, session: { id } }: Attached,
  { screen, detached, prompts }: Controls,
  action: AttachAction,
): Promise<void> {
  try {
    switch (action.type) {
      case 'prompt': {
        const onMissing = (problem: string): void => screen.note(`agentproto: ${problem}`)
        const prompt = await withAttachments(context.cwd, action.text, onMissing)
        await client.sessions.prompt(id, { prompt })
        prompts.emit('sent')
        return
      }
      case 'answer':
        await client.sessions.answer(id, action.requestId, action.answer)
        return
      case 'interrupt':
        await client.sessions.interrupt(id)
        return
      case 'detach':
        detached.abort()
    }
  } catch (thrown) {
    screen.note(isAgentprotoError(thrown) ? thrown.message : String(thrown))
    if (action.type === 'prompt') screen.restorePrompt(action.text)
  }
}

async function printFarewell({ context, client, session: { id, label } }: Attached): Promise<void> {
  const session = await client.sessions.get(id).catch(() => undefined)
  if (session !== undefined && (isLive(session) || summaryOf(session).wakeable)) {
    const command = `agentproto sessions --attach ${label ?? id}`
    print(context.stderr, `Detached; the session keeps running. Attach again with: ${command}`)
  }
}
