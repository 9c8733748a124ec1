import type { IdempotencyDigests, Turn } from '@agentproto/contracts'
import { type EarlierCall, KEPT_MS } from '../idempotency.js'
import type { SessionHandle } from '../session/session-handle.js'
import { eventsFrom } from './turn-log.js'

/**
 * The turn of a prompt that an earlier host accepted with the same idempotency key, whether its caller got the answer or not.
 * @param openedAt since when this host knows the keys itself, in milliseconds since the epoch
 * @returns undefined when there can be none
 */
export function earlierPrompt(
  session: SessionHandle,
  { key }: IdempotencyDigests,
  { openedAt, now }: { readonly openedAt: number; readonly now: number },
): Promise<EarlierCall<number> | undefined> | undefined {
  const isCandidate = (begun: string): boolean => {
    const at = Date.parse(begun)
    return at < openedAt && at > now - KEPT_MS
  }
  const queued = session.state.queue.findIndex((waiting) => waiting.idempotency?.key === key)
  const waiting = session.state.queue[queued]
  if (waiting?.idempotency !== undefined && isCandidate(waiting.queuedAt))
    return Promise.resolve(earlier(waiting.idempotency, session.turns.count + 1 + queued))
  const turns = session.turns.all.filter(({ queuedAt, startedAt }) => isCandidate(queuedAt ?? startedAt))
  return turns.length === 0 ? undefined : findAmong(session, turns, key)
}

async function findAmong(
  session: SessionHandle,
  turns: readonly Turn[],
  key: string,
): Promise<EarlierCall<number> | undefined> {
  for (const { number, firstSeq } of turns.toReversed()) {
    const digests = await digestsOf(session, firstSeq)
    if (digests?.key === key) return earlier(digests, number)
  }
  return undefined
}

async function digestsOf(session: SessionHandle, firstSeq: number): Promise<IdempotencyDigests | undefined> {
  for await (const event of eventsFrom(session, firstSeq))
    return event.type === 'user-prompt' ? event.idempotency : undefined
  return undefined
}

const earlier = ({ request }: IdempotencyDigests, turn: number): EarlierCall<number> => ({
  request,
  answer: () => Promise.resolve(turn),
})
