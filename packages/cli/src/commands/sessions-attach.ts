import { EXIT, type EventGap, isAgentprotoError, isLive, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { Writable } from 'node:stream'
import { AttachScreen, type AttachAction } from '../attach/attach-screen.js'
import { openKeyboard } from '../attach/keyboard.js'
import { LiveArea } from '../attach/live-area.js'
import { paced } from '../attach/paced.js'
import { sessionFeed } from '../attach/session-feed.js'
import { connect } from '../daemon/daemon.js'
import { isInteractive, paintOf, print, type Io } from '../io.js'
import { withAttachments } from '../prompt/prompt-attachments.js'
import { Transcript } from '../render/transcript.js'
import { findSession } from '../session-ref.js'
import { interruptible } from '../signals.js'

/** So many turns are shown of what was before; the rest is in `sessions events`. */
const SHOWN_TURNS = 10
/** Thirty pictures a second at most, whatever the agent's speed. */
const FRAME_MS = 33
const TICK_MS = 250

/** `agentproto sessions --attach`: the live transcript, and with a terminal a line to type in. */
export async function attachSession(io: Io, ref: string): Promise<number> {
  const client = await connect(io, isInteractive(io) ? { reconnectMs: Number.MAX_SAFE_INTEGER } : {})
  const session = await findSession(client, ref)
  const after = await startOf(client, session)
  return isInteractive(io)
    ? attachTerminal(io, { client, session, after })
    : printTranscript(io, { client, session, after })
}

interface Attached {
  readonly client: Client
  readonly session: Session
  readonly after: number
}

async function startOf(client: Client, { id, turnCount }: Session): Promise<number> {
  if (turnCount <= SHOWN_TURNS) return 0
  const [first] = await client.sessions.turns(id, { after: turnCount - SHOWN_TURNS, limit: 1 })
  return (first?.firstSeq ?? 1) - 1
}

/** For a pipe: whole rows, until the session ends or Ctrl-C. */
function printTranscript(io: Io, { client, session, after }: Attached): Promise<number> {
  const transcript = new Transcript({ paint: paintOf(io, io.stdout), width: () => io.stdout.columns ?? 100 })
  return interruptible(async (signal) => {
    const onGap = (gap: EventGap): void => print(io.stdout, gapLine(gap))
    for await (const event of client.sessions.events(session.id, { after, signal, onGap })) {
      const rows = transcript.take(event)
      if (rows.length > 0) print(io.stdout, rows)
    }
    return EXIT.ok
  })
}

async function attachTerminal(io: Io, { client, session, after }: Attached): Promise<number> {
  const screen = new AttachScreen({ session, paint: paintOf(io, io.stdout), width: () => io.stdout.columns ?? 80 })
  const abort = new AbortController()
  const wake = new Wake()
  const act = actor({ io, client, session }, { screen, abort, wake })
  if (after > 0)
    print(io.stdout, paintOf(io, io.stdout).dim(`… earlier turns: agentproto sessions events ${session.id}`))
  const picture = openPicture(io, screen, { abort, act })
  const tell = (change: () => void) => () => {
    change()
    picture.soon()
  }
  const events = sessionFeed({
    client,
    session,
    after,
    signal: abort.signal,
    away: tell(() => screen.away()),
    back: tell(() => screen.back()),
    woken: () => wake.next(),
    onGap: (gap) => tell(() => screen.note(gapLine(gap)))(),
  })
  try {
    for await (const event of events) {
      screen.event(event)
      picture.soon()
    }
  } catch (thrown) {
    if (!abort.signal.aborted) throw thrown
  } finally {
    picture.close()
  }
  await sayGoodbye(io, client, session)
  return EXIT.ok
}

/** As the projection of the gateway says it. */
const gapLine = ({ after, first }: EventGap): string =>
  `[gap] ${first === after + 2 ? `event ${after + 1}` : `events ${after + 1} to ${first - 1}`} cannot be read any more`

interface Picture {
  /** Something has changed. */
  soon(): void
  close(): void
}

/** The screen on the terminal: keys go to it, and it is drawn as it changes. */
function openPicture(
  io: Io,
  screen: AttachScreen,
  { abort, act }: { readonly abort: AbortController; readonly act: (action: AttachAction) => Promise<void> },
): Picture {
  const area = new LiveArea(io.stdout)
  let isOpen = true
  const draw = (): void => {
    if (isOpen) area.draw(screen.takeFinished(), screen.live(Date.now()))
  }
  const frame = paced(draw, FRAME_MS)
  const keyboard = openKeyboard({ stdin: io.stdin, output: io.stdout }, (key) => {
    const action = screen.key(key, Date.now())
    if (action !== undefined) void act(action).finally(frame.soon)
    draw()
  })
  const ticks = setInterval(draw, TICK_MS)
  const stop = (): void => abort.abort()
  io.stdout.on('resize', draw)
  process.once('SIGTERM', stop)
  return {
    soon: frame.soon,
    close() {
      isOpen = false
      frame.cancel()
      clearInterval(ticks)
      io.stdout.off('resize', draw)
      process.off('SIGTERM', stop)
      keyboard.close()
      area.close(screen.takeFinished())
    },
  }
}

/** Lets whoever waits for a session to wake go on. */
class Wake {
  #resolve: (() => void) | undefined

  next(): Promise<void> {
    return new Promise((resolve) => (this.#resolve = resolve))
  }

  now(): void {
    this.#resolve?.()
  }
}

interface Attachee {
  readonly io: Io
  readonly client: Client
  readonly session: Session
}
interface Acting {
  readonly screen: AttachScreen
  readonly abort: AbortController
  readonly wake: Wake
}

/** Carries out what a key asked for; what goes wrong is said on the screen. */
function actor(attached: Attachee, acting: Acting): (action: AttachAction) => Promise<void> {
  const { screen } = acting
  return async (action) => {
    try {
      await carryOut(attached, acting, action)
    } catch (thrown) {
      screen.note(messageOf(thrown))
      if (action.type === 'prompt') screen.giveBack(action.text)
    }
  }
}

async function carryOut(
  { io, client, session: { id } }: Attachee,
  { screen, abort, wake }: Acting,
  action: AttachAction,
): Promise<void> {
  switch (action.type) {
    case 'prompt': {
      const stderr = noteWriter((text) => screen.note(text))
      await client.sessions.prompt(id, { prompt: await withAttachments({ cwd: io.cwd, stderr }, action.text) })
      wake.now()
      return
    }
    case 'answer':
      await client.sessions.answer(id, action.requestId, action.answer)
      return
    case 'interrupt':
      await client.sessions.interrupt(id)
      return
    case 'detach':
      abort.abort()
  }
}

/** What would go to stderr, which would tear the screen. */
const noteWriter = (note: (text: string) => void): Writable =>
  new Writable({
    write(chunk, _, done) {
      note(String(chunk).trim())
      done()
    },
  })

async function sayGoodbye(io: Io, client: Client, { id, label }: Session): Promise<void> {
  const session = await client.sessions.get(id).catch(() => undefined)
  if (session !== undefined && (isLive(session) || session.resumable)) {
    print(io.stderr, `Detached; the session goes on. Come back with: agentproto sessions --attach ${label ?? id}`)
  }
}

const messageOf = (thrown: unknown): string => (isAgentprotoError(thrown) ? thrown.message : String(thrown))
