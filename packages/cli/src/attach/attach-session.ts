import { EventEmitter, once } from 'node:events'
import { type EventGap, isLive, type Session, type SessionEvent, summaryOf } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { isInteractive, paintFor, print, type CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { printable } from '../render/printable.js'
import { openRing } from '../requests/ring.js'
import { Transcript } from '../render/transcript.js'
import { findSession } from '../session-ref.js'
import { interruptible } from '../signals.js'
import { type ActionContext, perform, sendPrompt } from './attach-actions.js'
import type { AttachAction } from './attach-action.js'
import { AttachScreen } from './attach-screen.js'
import { openLiveScreen } from './live-screen.js'
import { sessionFeed } from './session-feed.js'
import { earlierPrompts } from './session-history.js'

/** Earlier turns are in the pager. */
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
  const { context, client, session } = attached
  const screen = screenOf(attached, await ownHost(client))
  const detached = new AbortController()
  const { signal } = detached
  const prompts = new EventEmitter()
  const sending = new Set<Promise<void>>()
  const view = openLiveScreen(context, {
    rows: () => ({ finished: screen.takeFinished(), live: screen.live(Date.now()) }),
    onKey(key) {
      run(screen.key(key, Date.now()))
      run(screen.next())
    },
    onStop: () => detached.abort(),
    frameMs: FRAME_MS,
    tickMs: TICK_MS,
  })
  const on: ActionContext = {
    context,
    client,
    screen,
    id: session.id,
    detach: () => detached.abort(),
    prompted: () => void prompts.emit('sent'),
    lend: (use) => view.lend(use),
  }
  function run(action: AttachAction | undefined): void {
    if (action === undefined) return
    const done = perform(on, action).finally(() => {
      sending.delete(done)
      view.update()
    })
    if (action.type === 'prompt') sending.add(done)
  }
  const shown = (change: () => void): void => {
    change()
    run(screen.next())
    view.update()
  }
  void showEarlierPrompts(attached, { screen, signal })
  const events = feedOf(attached, { screen, shown, prompts, signal })
  void watchSessions(attached, { shown, screen, signal })
  try {
    await showAll(
      events,
      (event) => {
        shown(() => screen.apply(event))
        if (endsNewTurn(event, session)) void showUsage(attached, screen)
      },
      signal,
    )
  } finally {
    view.close()
  }
  await Promise.all(sending)
  await handOver(on)
  await printFarewell(attached)
}

interface Feeding {
  readonly screen: AttachScreen
  /** Makes a change of the screen visible. */
  readonly shown: (change: () => void) => void
  /** Has `sent` for each prompt of this client. */
  readonly prompts: EventEmitter
  readonly signal: AbortSignal
}

const feedOf = ({ client, session, after }: Attached, { screen, shown, prompts, signal }: Feeding) =>
  sessionFeed({
    client,
    session,
    after,
    signal,
    onConnection: (isConnected) => shown(() => screen.setConnected(isConnected)),
    onGap: (gap) => shown(() => screen.note(gapLine(gap))),
    nextPrompt: async () => void (await once(prompts, 'sent', { signal }).catch(() => undefined)),
  })

/** Until the session or the person ends it. */
async function showAll(
  events: AsyncIterable<SessionEvent>,
  show: (event: SessionEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const event of events) show(event)
  } catch (thrown) {
    if (!signal.aborted) throw thrown
  }
}

const endsNewTurn = ({ type, turn = 0 }: SessionEvent, { turnCount }: Session): boolean =>
  type === 'turn-end' && turn >= turnCount

/** Name of the host that is asked. */
async function ownHost(client: Client): Promise<string | undefined> {
  const hosts = await client.hosts().catch(() => [])
  return hosts.find(({ self }) => self === true)?.name
}

function screenOf({ context, session, after }: Attached, own: string | undefined): AttachScreen {
  const { stdout } = context
  const paint = paintFor(context, stdout)
  if (after > 0) print(stdout, paint.dim('… PageUp shows the earlier turns'))
  const size = { width: () => stdout.columns || 80, height: () => stdout.rows || 24 }
  return new AttachScreen({ session, ownHost: own, paint, ...size })
}

/** Adds the prompts of turns that are not shown to the history; without them it only has those that are shown. */
async function showEarlierPrompts(
  { client, session: { id, turnCount }, after }: Attached,
  { screen, signal }: { readonly screen: AttachScreen; readonly signal: AbortSignal },
): Promise<void> {
  if (after === 0) return
  try {
    for await (const prompt of earlierPrompts(client, id, turnCount - SHOWN_TURNS)) {
      if (signal.aborted) return
      screen.rememberOlder(prompt)
    }
  } catch {
    // The feed reports that the gateway does not answer.
  }
}

/** What the turn cost, which only the gateway adds up. */
async function showUsage({ client, session: { id } }: Attached, screen: AttachScreen): Promise<void> {
  const now = await client.sessions.get(id).catch(() => undefined)
  screen.setUsage(now?.usage)
}

/** Rings for other sessions, and shows what becomes of the host of this one. */
async function watchSessions(
  { context, client, session }: Attached,
  { screen, shown, signal }: Pick<Feeding, 'screen' | 'shown' | 'signal'>,
): Promise<void> {
  try {
    const ring = await openRing(context, (id) => id === session.id)
    for await (const change of client.watch({ signal })) {
      ring(change)
      if (change.type === 'forgotten' || change.session.id !== session.id) continue
      const { session: now } = change
      shown(() => screen.setSession(now))
    }
  } catch {
    // A token of one session may not see the others, or the screen was closed.
  }
}

/** The same words as in the gateway's output lines. */
const gapLine = ({ after, first }: EventGap): string =>
  `[gap] ${first === after + 2 ? `event ${after + 1}` : `events ${after + 1} to ${first - 1}`} cannot be read any more`

/** Gives queued prompts to the gateway, which sends them after the turn, and prints what is left. */
async function handOver(on: ActionContext): Promise<void> {
  const { queued, unsent } = on.screen.leftovers
  const { stderr } = on.context
  const kept: string[] = []
  for (const text of queued) {
    // After one that failed the order would be another.
    const isSent =
      kept.length === 0 &&
      (await sendPrompt(on, { type: 'prompt', text }).then(
        () => true,
        () => false,
      ))
    if (!isSent) kept.push(text)
  }
  const sent = queued.length - kept.length
  if (sent > 0)
    print(
      stderr,
      `${sent} queued prompt${sent === 1 ? '' : 's'}: the gateway sends ${sent === 1 ? 'it' : 'them'} after the turn.`,
    )
  for (const text of [...kept, ...unsent]) print(stderr, `Not sent: ${printable(text)}`)
}

async function printFarewell({ context, client, session: { id, label } }: Attached): Promise<void> {
  const session = await client.sessions.get(id).catch(() => undefined)
  const goesOn = session && whatGoesOn(session)
  if (goesOn !== undefined)
    print(context.stderr, `Detached; ${goesOn}. Attach again with: agentproto sessions --attach ${label ?? id}`)
}

/** Undefined where attaching again shows nothing new. */
function whatGoesOn(session: Session): string | undefined {
  if (session.state === 'unreachable') return `the host ${printable(session.hostId)} is not heard from`
  return isLive(session) || summaryOf(session).wakeable ? 'the session keeps running' : undefined
}
