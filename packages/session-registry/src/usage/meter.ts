import { addCost, addUsage, type Cost, NO_USAGE, type SessionEvent, type Usage } from '@agentproto/contracts'
import type { MeteredTurn, UsageMeter } from '@agentproto/contracts/agent'
import { reportedTokens } from './reported-tokens.js'

/**
 * Counts what a session uses, from its events alone: reading a log again gives the same, and an event that was counted is
 * never counted twice.
 */

/** What an event adds to the budgets of its session. */
export interface Spent {
  readonly turns?: number
  readonly tokens?: number
  readonly busyMs?: number
  readonly cost?: readonly Cost[]
}

/** A turn that ended, or a cost that was reported after it. */
export interface Counted {
  readonly seq: number
  /** ISO-8601. */
  readonly ts: string
  readonly usage: Usage
}

export interface Metered {
  readonly meter: UsageMeter
  readonly spent?: Spent
  readonly counted?: Counted
  /** For people: a reported cost that does not count. */
  readonly refused?: string
}

/** @param reported what the agent had reported of the conversation before this session */
export const newMeter = (reported: readonly Cost[] = []): UsageMeter => ({
  seq: 0,
  countedSeq: 0,
  usage: NO_USAGE,
  reported,
  pending: [],
})

/** Events of other types say nothing about usage, except that an agent works while a person is asked. */
const METERED: ReadonlySet<SessionEvent['type']> = new Set([
  'user-prompt',
  'usage',
  'agent-prompt',
  'agent-prompt-resolved',
  'turn-end',
  'session-stopped',
])

/** What an agent reports of its work. */
const WORK: ReadonlySet<SessionEvent['type']> = new Set(['text-delta', 'thought', 'tool-call', 'tool-result', 'plan'])

/** Whether {@link measure} has to look at an event of that type. */
export const isMetered = ({ turn }: UsageMeter, type: SessionEvent['type']): boolean =>
  METERED.has(type) || (turn?.waitingSince !== undefined && WORK.has(type))

/** Counts one event. */
export function measure(before: UsageMeter, event: SessionEvent): Metered {
  if (event.seq <= before.seq) return { meter: before }
  const meter = { ...before, seq: event.seq }
  switch (event.type) {
    case 'user-prompt':
      return { meter: { ...meter, turn: begunTurn(event) } }
    case 'usage':
      return event.cost === undefined ? { meter } : costReported(meter, event.cost)
    case 'agent-prompt':
      return requested(meter, event.ts)
    case 'agent-prompt-resolved':
      return { meter: resolved(meter, event.ts) }
    case 'turn-end':
      return turnEnded(meter, event)
    case 'session-stopped':
      return stopped(meter, event)
    default:
      return WORK.has(event.type) ? workedAside(meter, event.ts) : { meter }
  }
}

/** What a sum of turns adds to a budget. */
export const spentOf = ({ turns, tokens, busyMs, cost }: Usage): Spent => ({
  turns,
  tokens: tokens?.totalTokens ?? 0,
  busyMs,
  ...(cost !== undefined && { cost }),
})

/** What the running turn has used and no counted turn has: a new host adds it to its budgets. */
export const uncounted = (meter: UsageMeter): Spent => ({ cost: meter.pending, ...runningTurn(meter) })

/** What the running turn has used so far, without its costs, which are in the usage of the session already. */
export const runningTurn = ({ turn }: UsageMeter): Spent =>
  turn === undefined || turn.isUnsent ? {} : { turns: 1, busyMs: turn.busyMs }

/** The host ended in the middle of a turn, and the agent with it: what came after was no work. @param at ISO-8601 */
export function interruptedAt(meter: UsageMeter, at: string | undefined): Metered {
  if (meter.turn?.busySince === undefined || at === undefined) return { meter }
  const { busySince: since, ...turn } = meter.turn
  const busyMs = elapsed(since, at)
  return { meter: { ...meter, turn: { ...turn, busyMs: turn.busyMs + busyMs } }, spent: { busyMs } }
}

/** How long the agent has been at work since the last moment that was counted, in milliseconds. */
export const busySince = ({ turn }: UsageMeter, now: number): number =>
  turn?.busySince === undefined ? 0 : Math.max(0, now - turn.busySince)

function begunTurn({ ts, sent }: SessionEvent & { readonly type: 'user-prompt' }): MeteredTurn {
  const isUnsent = sent === false
  return { busyMs: 0, requests: 0, isUnsent, ...(isUnsent ? {} : { busySince: Date.parse(ts) }) }
}

/**
 * An agent reports the sum of its conversation (ACP `usage_update`): what is new is the difference to its last report. A
 * smaller sum is that of an agent which has started to count again.
 */
function costReported(meter: UsageMeter, given: Cost): Metered {
  const cost = checkedCost(given)
  if (cost === undefined) return { meter, refused: 'an amount or a currency that is none' }
  const { amount: before = 0 } = meter.reported.find(({ currency }) => currency === cost.currency) ?? {}
  const others = meter.reported.filter(({ currency }) => currency !== cost.currency)
  if (others.length >= MAX_CURRENCIES) return { meter, refused: `more than ${MAX_CURRENCIES} currencies` }
  const amount = cost.amount >= before ? cost.amount - before : cost.amount
  const added: readonly Cost[] = [{ amount, currency: cost.currency }]
  return {
    meter: {
      ...meter,
      reported: [...others, cost],
      pending: addCost(meter.pending, added),
      usage: { ...meter.usage, cost: addCost(meter.usage.cost, added) },
    },
    spent: { cost: added },
  }
}

/** Agents are not trusted: a name that is no currency, or an amount that is none, is not reported. */
function checkedCost({ amount, currency }: Cost): Cost | undefined {
  const isAmount = typeof amount === 'number' && amount >= 0 && amount <= MAX_COST
  const isCurrency = typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency)
  return isAmount && isCurrency ? { amount, currency: currency.toUpperCase() } : undefined
}

const MAX_CURRENCIES = 4
const MAX_COST = 1_000_000_000

/** The time of a person is not the agent's. */
function requested({ turn, ...meter }: UsageMeter, ts: string): Metered {
  if (turn === undefined) return { meter }
  const { busySince: since, ...rest } = turn
  const busyMs = since === undefined ? 0 : elapsed(since, ts)
  // A further request is no work: the agent may have waited with it.
  const { waitingSince = Date.parse(ts) } = rest
  const waiting = { ...rest, busyMs: turn.busyMs + busyMs, requests: turn.requests + 1, waitingSince }
  return { meter: { ...meter, turn: waiting }, ...(busyMs === 0 ? {} : { spent: { busyMs } }) }
}

/** An answer to one of several requests: until it came, that one kept the agent from working. */
function resolved(meter: UsageMeter, ts: string): UsageMeter {
  const { turn } = meter
  if (turn === undefined || turn.requests === 0) return meter
  const { waitingSince: _, ...rest } = turn
  const requests = turn.requests - 1
  const since = Date.parse(ts)
  return { ...meter, turn: { ...rest, requests, ...(requests === 0 ? { busySince: since } : { waitingSince: since }) } }
}

/**
 * An agent that reports work while a request of it is open does not only wait: the time since it was last seen counts, of a
 * longer one the last minute, since it may have waited before.
 */
function workedAside({ turn, ...meter }: UsageMeter, ts: string): Metered {
  if (turn?.waitingSince === undefined) return { meter: turn === undefined ? meter : { ...meter, turn } }
  const busyMs = Math.min(MAX_ASIDE_MS, elapsed(turn.waitingSince, ts))
  const worked = { ...turn, busyMs: turn.busyMs + busyMs, waitingSince: Math.max(turn.waitingSince, Date.parse(ts)) }
  return { meter: { ...meter, turn: worked }, ...(busyMs === 0 ? {} : { spent: { busyMs } }) }
}

const MAX_ASIDE_MS = 60_000

function turnEnded(
  { turn, pending, ...meter }: UsageMeter,
  { seq, ts, usage }: SessionEvent & { readonly type: 'turn-end' },
): Metered {
  // Without its prompt it is a turn whose begin is lost.
  if (turn?.isUnsent === true) return { meter: { ...meter, pending } }
  const { busyMs: before = 0, busySince: since = Infinity } = turn ?? {}
  const last = elapsed(since, ts)
  const tokens = usage && reportedTokens(usage)
  const hasTokens = tokens !== undefined
  const hasCost = pending.length > 0
  // Its cost is in the total since it was reported.
  const added: Usage = {
    turns: 1,
    unreported: Number(!hasTokens && !hasCost),
    withoutTokens: Number(!hasTokens),
    withoutCost: Number(!hasCost),
    busyMs: before + last,
    ...(hasTokens && { tokens }),
  }
  return {
    meter: { ...meter, usage: addUsage(meter.usage, added), pending: [], countedSeq: seq },
    spent: { busyMs: last, tokens: tokens?.totalTokens ?? 0 },
    counted: { seq, ts, usage: hasCost ? { ...added, cost: pending } : added },
  }
}

/** What the agent reported after its last turn is counted too. */
function stopped({ turn: _, pending, ...meter }: UsageMeter, { seq, ts }: SessionEvent): Metered {
  if (pending.length === 0) return { meter: { ...meter, pending } }
  const counted: Counted = { seq, ts, usage: { ...NO_USAGE, cost: pending } }
  return { meter: { ...meter, pending: [], countedSeq: seq }, counted }
}

const elapsed = (since: number, ts: string): number => Math.max(0, Date.parse(ts) - since)
