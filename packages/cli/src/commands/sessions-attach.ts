import { EXIT, isAgentprotoError, isLive, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { AttachScreen, type AttachAction } from '../attach/attach-screen.js'
import { openKeyboard } from '../attach/keyboard.js'
import { LiveArea } from '../attach/live-area.js'
import { paced } from '../attach/paced.js'
import { connect } from '../daemon.js'
import { isInteractive, paintOf, print, type Io } from '../io.js'
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
  const client = await connect(io)
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

async function startOf(client: Client, { id }: Session): Promise<number> {
  const turns = await client.sessions.turns(id)
  return turns.length <= SHOWN_TURNS ? 0 : (turns.at(-SHOWN_TURNS)?.firstSeq ?? 1) - 1
}

/** For a pipe: whole rows, until the session ends or Ctrl-C. */
function printTranscript(io: Io, { client, session, after }: Attached): Promise<number> {
  const transcript = new Transcript({ paint: paintOf(io, io.stdout), width: () => io.stdout.columns ?? 100 })
  return interruptible(async (signal) => {
    for await (const event of client.sessions.events(session.id, { after, signal })) {
      const rows = transcript.take(event)
      if (rows.length > 0) print(io.stdout, rows)
    }
    return EXIT.ok
  })
}

async function attachTerminal(io: Io, { client, session, after }: Attached): Promise<number> {
  const screen = new AttachScreen({ session, paint: paintOf(io, io.stdout), width: () => io.stdout.columns ?? 80 })
  const area = new LiveArea(io.stdout)
  const abort = new AbortController()
  let isOpen = true
  const draw = (): void => {
    if (isOpen) area.draw(screen.takeFinished(), screen.live(Date.now()))
  }
  const frame = paced(draw, FRAME_MS)
  const act = actor(client, session, abort)
  const keyboard = openKeyboard({ stdin: io.stdin, output: io.stdout }, (key) => {
    const action = screen.key(key, Date.now())
    if (action !== undefined)
      void act(action)
        .catch((thrown: unknown) => screen.note(messageOf(thrown)))
        .finally(frame.soon)
    draw()
  })
  const ticks = setInterval(draw, TICK_MS)
  io.stdout.on('resize', draw)
  const stop = (): void => abort.abort()
  process.once('SIGTERM', stop)
  try {
    if (after > 0)
      print(io.stdout, paintOf(io, io.stdout).dim(`… earlier turns: agentproto sessions events ${session.id}`))
    for await (const event of client.sessions.events(session.id, { after, signal: abort.signal })) {
      screen.event(event)
      frame.soon()
    }
  } catch (thrown) {
    if (!abort.signal.aborted) throw thrown
  } finally {
    isOpen = false
    frame.cancel()
    clearInterval(ticks)
    io.stdout.off('resize', draw)
    process.off('SIGTERM', stop)
    keyboard.close()
    area.close(screen.takeFinished())
  }
  await sayGoodbye(io, client, session)
  return EXIT.ok
}

function actor(client: Client, { id }: Session, abort: AbortController): (action: AttachAction) => Promise<void> {
  return async (action) => {
    switch (action.type) {
      case 'prompt':
        await client.sessions.prompt(id, { prompt: action.text })
        return
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
}

async function sayGoodbye(io: Io, client: Client, { id, label }: Session): Promise<void> {
  const session = await client.sessions.get(id).catch(() => undefined)
  if (session !== undefined && isLive(session)) {
    print(io.stderr, `Detached; the session goes on. Come back with: agentproto sessions --attach ${label ?? id}`)
  }
}

const messageOf = (thrown: unknown): string => (isAgentprotoError(thrown) ? thrown.message : String(thrown))
