import type { EventGap, Session, SessionEvent } from '@agentproto/contracts'
import type { Define } from '../../cli-command.js'
import { paintFor, print, warn, widthOf, type CliContext } from '../../cli-context.js'
import { type JsonOption, toCount } from '../../command-definition.js'
import { eventLine } from '../../render/event-line.js'
import type { Frame } from '../../render/paint.js'
import { requestContent } from '../../render/request-content.js'
import { openSession } from '../../session-ref.js'
import { interruptible } from '../../signals.js'

interface EventsOptions extends JsonOption {
  readonly after: number
  readonly follow?: boolean
}

const PAGE = 1_000

export const define: Define = (command) =>
  command
    .description('print the event log of a session')
    .argument('<id>')
    .option('--after <seq>', 'only events after this sequence number', toCount, 0)
    .option('-f, --follow', 'print new events until the session ends')
    .json('one JSON document per line')
    .examples('sessions events try', 'sessions events try -f --json', 'sessions events try --after 120')
    .run(printEvents)

async function printEvents(
  context: CliContext,
  ref: string,
  { json, follow, after: start }: EventsOptions,
): Promise<number | void> {
  const { client, session } = await openSession(context, ref)
  const { stdout } = context
  const frame = { paint: paintFor(context, stdout), width: widthOf(stdout) }
  const printEvent = (event: SessionEvent): void =>
    print(stdout, json === true ? JSON.stringify(event) : eventRows(event, { session, frame }))
  const onGap = ({ after, first }: EventGap): void => warn(context, `the events ${after + 1} to ${first - 1} are lost`)
  if (follow === true) {
    return interruptible(async (signal) => {
      for await (const event of client.sessions.events(session.id, { after: start, signal, onGap })) printEvent(event)
    })
  }
  for (let after = start; ;) {
    const page = await client.sessions.eventsPage(session.id, after, PAGE)
    if (page.gap !== undefined) onGap(page.gap)
    page.events.forEach(printEvent)
    if (page.events.length === 0) return
    after = page.nextAfter
  }
}

/** One line; of a request also all that is decided about it. */
function eventRows(
  event: SessionEvent,
  { session, frame }: { readonly session: Session; readonly frame: Frame },
): string[] {
  const line = eventLine(event, frame)
  return event.type === 'agent-prompt' ? [line, ...requestContent({ ...event, session }, frame)] : [line]
}
