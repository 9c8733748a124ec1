import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { type EventGap, isRecord, type SessionEvent } from '@agentproto/contracts'
import type { AcpConnectionState } from './acp-host.js'
import type { ClientLink, EventNumber } from './client-link.js'
import { EventUpdates } from './event-updates.js'

/** Outages of the gateway that are longer than this are reported to the user, in milliseconds. */
const OUTAGE_MS = 500

/** Events that are handled in one turn of the event loop: more of them keep the others waiting. */
const IN_ONE_TURN = 256

/** What a client gets of one session. Every promise here is back-pressure: there is one only while the client does not keep up. */
export class SessionOutput {
  readonly #link: ClientLink
  readonly #sessionId: string
  readonly #updates: EventUpdates
  #away = false

  constructor(link: ClientLink, sessionId: string) {
    this.#link = link
    this.#sessionId = sessionId
    this.#updates = new EventUpdates(isRecord(link.capabilities.session?.notices))
  }

  event(event: SessionEvent): Promise<void> | undefined {
    return this.send(this.#updates.of(event), event)
  }

  /** @param of The event that these are all updates of */
  send(updates: readonly SessionUpdate[], of?: EventNumber): Promise<void> | undefined {
    let pressure: Promise<void> | undefined
    const last = updates.length - 1
    for (let at = 0; at <= last; at++)
      pressure = this.#link.update(this.#sessionId, updates[at] as SessionUpdate, at === last ? of : undefined)
    return pressure
  }

  notice(severity: Parameters<EventUpdates['notice']>[0], title: string, of?: EventNumber): Promise<void> | undefined {
    return this.send(this.#updates.notice(severity, title), of)
  }

  /** The calls of the turn are over: the next turn has its own. */
  turnEnded(): void {
    this.#updates.turnEnded()
  }

  gap({ after, first }: EventGap): Promise<void> | undefined {
    return this.notice('warning', `The events ${after + 1} to ${first - 1} are no longer available`)
  }

  connection(state: AcpConnectionState): void {
    const away = state.state === 'reconnecting'
    if (away === this.#away || (away && state.awayMs < OUTAGE_MS)) return
    this.#away = away
    if (away) void this.notice('warning', 'The gateway is not reachable; its sessions continue when it is back')
    else void this.notice('info', 'The gateway is reachable again')
  }

  /** Handles events in their order, many in one write; a promise of one is waited for before the next. */
  async all<T>(
    events: readonly T[],
    { handle, signal }: { readonly handle: (event: T) => Promise<void> | undefined; readonly signal: AbortSignal },
  ): Promise<void> {
    for (let at = 0; at < events.length && !signal.aborted;) {
      let pressure: Promise<void> | undefined
      const end = Math.min(at + IN_ONE_TURN, events.length)
      this.#link.together(() => {
        while (at < end && pressure === undefined) pressure = handle(events[at++] as T)
      })
      if (pressure !== undefined) await pressure
      else if (at < events.length) await nextTurn()
    }
  }
}
