import { AgentprotoError, asRecord, type Session } from '@agentproto/contracts'
import type { ClientCapabilities } from '@agentclientprotocol/sdk'
import type { EventNumber } from './client-link.js'

// An extension of ACP, for a client that asks for it: with the numbers of the events that it has seen it continues exactly where
// its connection was cut. `docs/acp.md` describes it.

/** The member of every `_meta` that is ours. */
const OURS = 'agentproto'

/** What a client announces: `clientCapabilities._meta.agentproto.events`. */
export const wantsNumbers = ({ _meta: meta }: ClientCapabilities): boolean =>
  asRecord(asRecord(meta)[OURS])['events'] === true

/** What the server announces to such a client. */
export const NUMBERED = { [OURS]: { events: true } }

export const numberOf = ({ seq, turn }: EventNumber): { readonly [OURS]: object } => ({ [OURS]: { seq, turn } })

/** The last event that a client has seen of a session that it loads; 0 for none. @throws `invalid_request` */
export function seenOf(meta: unknown): number {
  const { after = 0 } = asRecord(asRecord(meta)[OURS])
  if (typeof after === 'number' && Number.isSafeInteger(after) && after >= 0) return after
  throw new AgentprotoError('invalid_request', 'The field "_meta.agentproto.after" is invalid', {
    expected: 'the number of the last event that was seen',
    given: String(after),
    data: { field: '_meta.agentproto.after' },
  })
}

/** What an answer that opens a session says beside its settings: the last event, and the turn that runs. */
export const openedAt = (
  { turn, turnCount }: Session,
  seq: number,
): { readonly _meta: { readonly [OURS]: object } } => ({
  _meta: { [OURS]: turnCount === 0 || turn.state === 'idle' ? { seq } : { seq, turn: { number: turn.number } } },
})

/** The end of a turn that the client did not prompt over this connection: it gets no answer that says so. */
export const TURN_ENDED = '_agentproto/turn_ended'

/** The `_meta` of a request to the client: a request that comes again after a reconnect is the same. */
export const requestMark = (requestId: string): object => ({ _meta: { [OURS]: { requestId } } })
