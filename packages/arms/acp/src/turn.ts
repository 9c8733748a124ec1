import { TURN_END_REASONS } from '@agentproto/contracts'
import type { AgentSignal, StreamError, TokenUsage, TurnEnd, TurnEndReason } from '@agentproto/contracts'
import { defined, isRecord, number, record, text } from './json.js'
import type { Json } from './json.js'
import { ToolCalls } from './tool-call.js'

/** How a turn came to its end. */
export type TurnOutcome =
  | { readonly by: 'response'; readonly message: Json }
  | { readonly by: 'failure'; readonly error: Omit<StreamError, 'type'> }
  | { readonly by: 'host' }

/** Stop reasons of ACP; they are AIP-45's names. */
const STOP_REASONS: ReadonlySet<unknown> = new Set(
  TURN_END_REASONS.filter((reason) => reason !== 'error' && reason !== 'timeout'),
)

/** One prompt and what came of it. */
export class Turn {
  readonly tools = new ToolCalls()
  /** Settles when the turn's end was emitted. */
  readonly done: Promise<void>
  /** The host wants it to end. What the agent then calls its end does not matter. */
  cancelling = false
  /** The agent answered, and the end is about to be told. */
  answer: TurnOutcome | undefined
  /** Text, a thought or a tool call came. */
  productive = false
  /** Resolves `done`. */
  readonly resolve: () => void

  constructor() {
    let resolve = (): void => {}
    this.done = new Promise((settle) => (resolve = settle))
    this.resolve = resolve
  }

  /** The last signals of the turn: open calls are interrupted, an error is told, and the end is the last. */
  conclude(outcome: TurnOutcome): readonly AgentSignal[] {
    const { reason, error, usage } = this.#verdict(outcome)
    const end: TurnEnd = {
      type: 'turn-end',
      reason,
      ...(this.productive ? {} : { empty: true }),
      ...defined({ usage }),
    }
    return [...this.tools.interrupt(), ...(error ? [{ type: 'error' as const, ...error }] : []), end]
  }

  #verdict(outcome: TurnOutcome): Verdict {
    if (outcome.by === 'host') return { reason: 'cancelled' }
    if (outcome.by === 'failure') return { reason: 'error', error: outcome.error }
    const verdict = responseVerdict(outcome.message)
    return this.cancelling ? { ...defined({ usage: verdict.usage }), reason: 'cancelled' } : verdict
  }
}

interface Verdict {
  readonly reason: TurnEndReason
  readonly error?: Omit<StreamError, 'type'>
  readonly usage?: TokenUsage
}

function responseVerdict({ result, error }: Json): Verdict {
  if (isRecord(error)) return { reason: 'error', error: agentError(error) }
  const { stopReason, usage } = record(result)
  const told = isRecord(usage) ? { usage: usageOf(usage) } : {}
  if (STOP_REASONS.has(stopReason)) return { ...told, reason: stopReason as TurnEndReason }
  const message = `The agent stopped for a reason that is not in the protocol: ${JSON.stringify(stopReason) ?? 'none'}`
  return { ...told, reason: 'error', error: { message } }
}

function agentError({ code, message, data }: Json): Omit<StreamError, 'type'> {
  const agentCode = number(code) ?? text(code)
  return { message: text(message) ?? 'The agent failed the prompt', ...defined({ agentCode, data }) }
}

function usageOf(usage: Json): TokenUsage {
  return defined({
    inputTokens: number(usage['inputTokens']),
    outputTokens: number(usage['outputTokens']),
    totalTokens: number(usage['totalTokens']),
    cachedReadTokens: number(usage['cachedReadTokens']),
    cachedWriteTokens: number(usage['cachedWriteTokens']),
    thoughtTokens: number(usage['thoughtTokens']),
  })
}
