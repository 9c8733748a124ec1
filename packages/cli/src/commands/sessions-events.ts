import { EXIT, type SessionEvent } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { eventLine } from '../render/event-line.js'
import { findSession } from '../session-ref.js'
import { interruptible } from '../signals.js'

export interface EventsOptions extends JsonOption {
  readonly after: number
  readonly follow?: boolean
}

const PAGE = 1_000

/** `agentproto sessions events`: the log as it is, or with `-f` as it grows. */
export async function printEvents(io: Io, ref: string, options: EventsOptions): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const show = (event: SessionEvent): void =>
    print(io.stdout, options.json === true ? JSON.stringify(event) : human(event))
  const human = (event: SessionEvent): string =>
    eventLine(event, { paint: paintOf(io, io.stdout), width: widthOf(io.stdout) })
  const onGap = ({ after, first }: { after: number; first: number }): void =>
    print(io.stderr, `agentproto: the events ${after + 1} to ${first - 1} are gone`)
  if (options.follow === true) {
    return interruptible(async (signal) => {
      for await (const event of client.sessions.events(id, { after: options.after, signal, onGap })) show(event)
      return EXIT.ok
    })
  }
  for (let after = options.after; ;) {
    const page = await client.sessions.eventsPage(id, after, PAGE)
    if (page.gap !== undefined) onGap(page.gap)
    page.events.forEach(show)
    if (page.events.length === 0) return EXIT.ok
    after = page.nextAfter
  }
}
