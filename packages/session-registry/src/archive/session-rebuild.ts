import type { EventGap, Session, SessionEvent } from '@agentproto/contracts'
import type { EntryGroup } from '../log/event-log.js'
import type { LogItem } from '../log/log-gap.js'
import { DEFAULT_REGISTRY_CONFIG } from '../registry-config.js'
import { replayEvent, restarted } from '../session/events.js'
import { type MissingEnds, missingEnds } from '../session/run-end.js'
import { IDLE, type SessionState, snapshotOf, stateOf, type TurnState } from '../session/state.js'
import { TurnHistory } from '../turns/turn-history.js'

/** Rebuilds a session's state and turns from its log and what its start decided. */
export class SessionRebuild {
  readonly turns = new TurnHistory([], 0)
  state: SessionState
  /** The last event that was applied or skipped. */
  lastSeq = 0

  constructor(start: Session) {
    const stored = { version: 1, session: atCreation(start), turns: [], requests: [], spawn: {} } as const
    this.state = stateOf(stored, DEFAULT_REGISTRY_CONFIG)
  }

  get session(): Session {
    const snapshot = { ...snapshotOf(this.state, this.lastSeq), pendingRequests: 0 }
    // A turn whose prompt is gone counts too.
    const turnCount = this.turns.count
    return { ...snapshot, turnCount, turn: { ...snapshot.turn, number: turnCount } }
  }

  /** What the log lacks at its end. */
  missingEnds(ends: MissingEnds): readonly EntryGroup[] {
    return missingEnds(this.state, ends)
  }

  /** Whether a turn can begin with this prompt. */
  admits(event: SessionEvent & { readonly type: 'user-prompt' }): boolean {
    return this.turns.current === undefined && event.turn === this.turns.count + 1
  }

  apply(event: SessionEvent): void {
    this.lastSeq = event.seq
    this.state = replayEvent(this.state, event)
    if (event.type !== 'user-prompt' || this.admits(event)) this.turns.effective([event])
  }

  /** These events are lost; the ones that replace them are not applied. */
  skip(gap: EventGap): void {
    this.lastSeq = gap.first - 1
    this.turns.skip(gap)
  }

  /** Before an event that may be the first after a gap: the open turn may be over, and another one have begun. */
  find(event: SessionEvent): void {
    if (!this.turns.isLost) return
    const before = this.turns.current
    this.turns.find(event)
    const { current } = this.turns
    if (current === before) return
    const requests = this.state.requests.filter(({ state }) => state !== 'pending')
    const turn: TurnState =
      current === undefined
        ? IDLE
        : { phase: 'open', number: current.number, openTools: [], hasOutput: false, interrupters: [] }
    this.state = { ...this.state, turn, requests }
  }

  async applyAll(items: AsyncIterable<LogItem>): Promise<this> {
    for await (const item of items) {
      // Events lost at the end do not count: the record is compared with what the log has.
      if (item.type === 'gap') this.turns.skip(item.gap)
      else {
        this.find(item)
        this.apply(item)
      }
    }
    return this
  }
}

/** As it was before anything of it was logged. */
function atCreation(session: Session): Session {
  const { unsentTurns: _u, lastOutputAt: _o, ...rest } = restarted(session)
  return { ...rest, connection: 'disconnected', turnCount: 0, turn: { number: 0, state: 'idle' } }
}
