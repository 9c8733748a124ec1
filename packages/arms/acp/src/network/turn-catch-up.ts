import type { Verdict } from '@agentproto/arm-kit'
import { asNumber, asRecord, asString, type ContentBlock, type Json } from '@agentproto/contracts'
import { responseVerdict } from '../prompt.js'
import { RepeatedAsks } from './repeated-asks.js'
import { type KnownTurn, promptKey, Prompts, Replay, type Said } from './replay.js'

/** How much of a turn's text is remembered, in characters, to find it in the history of an agent that numbers nothing. */
const MAX_KNOWN = 1 << 20
const MAX_CALLS = 10_000

/** What became of a turn while its connection was lost. */
export type TurnState =
  /** It runs on, and its end will be reported. */
  | { readonly how: 'continues' }
  | { readonly how: 'ended'; readonly verdict: Verdict }
  /** For people. */
  | { readonly how: 'unknown'; readonly why: string }

/**
 * What a session that is reached over the network knows of its turn, so that the turn can go on after the connection was
 * lost. An agentproto gateway numbers its updates (`_meta.agentproto.seq`): then nothing is missing and nothing comes
 * twice. Of other agents, the history that they replay is compared with what was received.
 */
export class TurnCatchUp {
  readonly asks = new RepeatedAsks()
  /** The number of the last update, of an agent that numbers them. */
  #seq: number | undefined
  #turn: KnownTurn | undefined
  /** The number of the turn in the agent, once it is known. */
  #number: number | undefined
  #rejoin: Rejoin | undefined

  /** A prompt is sent. */
  begin(prompt: readonly ContentBlock[]): void {
    const said = { 'text-delta': '', thought: '' }
    this.#turn = { prompt: promptKey(prompt), said, calls: new Set(), isWhole: true, isHeard: false }
    this.#number = undefined
    this.asks.clear()
  }

  /** The answer that opened the session. */
  opened(result: Json): void {
    this.#seq = seqOf(result) ?? this.#seq
  }

  /** The number after which the agent is asked to go on; undefined where it numbers nothing. */
  get after(): number | undefined {
    return this.#seq
  }

  /** The session is loaded again. @param isTurn whether its turn was sent and has not ended */
  rejoin(isTurn: boolean): void {
    const turn = isTurn ? this.#turn : undefined
    this.#rejoin = this.#seq === undefined ? { replay: turn && new Replay(turn) } : { prompts: new Prompts() }
  }

  /** The session could not be loaded. */
  abort(): void {
    this.#rejoin = undefined
  }

  /** Sees an update. @returns whether the session is to have it now */
  takes(params: Json): boolean {
    const seq = seqOf(params)
    if (seq !== undefined) {
      // Received before the connection was lost.
      if (this.#seq !== undefined && seq <= this.#seq) return false
      this.#seq = seq
    }
    const update = asRecord(params['update'])
    const rejoin = this.#rejoin
    if (rejoin === undefined) {
      if (this.#turn) this.#turn.isHeard = true
      return true
    }
    if ('prompts' in rejoin) return !rejoin.prompts.add(update)
    return rejoin.replay?.add(update) !== true
  }

  /** The session has added something to its turn. */
  said(type: Said, text: string): void {
    const turn = this.#turn
    // Numbers are exact.
    if (!turn || this.#seq !== undefined) return
    if (turn.said[type].length + text.length > MAX_KNOWN) turn.isWhole = false
    else turn.said[type] += text
  }

  called(toolCallId: string): void {
    const turn = this.#turn
    if (turn && this.#seq === undefined && turn.calls.size < MAX_CALLS) turn.calls.add(toolCallId)
  }

  /**
   * The end of a turn that another connection has begun.
   * @returns how the session's turn ended, if it is that one
   */
  ended(params: Json): Verdict | undefined {
    const verdict = verdictOf(params)
    if (this.#rejoin && 'prompts' in this.#rejoin) this.#rejoin.ended ??= verdict
    const number = asNumber(params['turn'])
    return number !== undefined && number === this.#number ? verdict : undefined
  }

  /** The session is loaded. @returns the updates of the turn that are new, and what became of it */
  rejoined(result: Json): { readonly updates: readonly Json[]; readonly state: TurnState } {
    const rejoin = this.#rejoin
    this.#rejoin = undefined
    this.opened(result)
    if (rejoin && 'prompts' in rejoin)
      return { updates: [], state: this.#stateOf(rejoin, asRecord(metaOf(result)['turn'])) }
    const updates = rejoin?.replay?.news() ?? []
    return { updates, state: { how: 'unknown', why: CANNOT_FOLLOW } }
  }

  #stateOf({ prompts, ended }: NumberedRejoin, turn: Json): TurnState {
    const { isHeard, prompt } = this.#turn ?? NO_TURN
    const isOurs = prompts.first !== undefined && (!isHeard || prompts.first === prompt)
    if (!isHeard && !isOurs) return { how: 'unknown', why: NOT_ARRIVED }
    if (ended) return { how: 'ended', verdict: ended }
    // Other turns begin only once ours has ended.
    const others = prompts.count - (isOurs ? 1 : 0)
    const number = asNumber(turn['number'])
    if (number === undefined || others > 0) return { how: 'unknown', why: ENDED_AWAY }
    return this.#follow(number, turn)
  }

  #follow(number: number, turn: Json): TurnState {
    const isOver = turn['stopReason'] !== undefined || turn['error'] !== undefined
    if (isOver) return { how: 'ended', verdict: verdictOf(turn) }
    if (this.#turn) this.#turn.isHeard = true
    this.#number = number
    return { how: 'continues' }
  }
}

const NO_TURN = { isHeard: false, prompt: '' }

/** Of an agent that numbers its updates; what comes is new. */
interface NumberedRejoin {
  readonly prompts: Prompts
  /** How the first turn ended whose end came before the answer. */
  ended?: Verdict
}

/** Of any other agent. */
interface PlainRejoin {
  /** Present while a turn runs. */
  readonly replay: Replay | undefined
}

type Rejoin = NumberedRejoin | PlainRejoin

const CANNOT_FOLLOW = 'the agent does not say what became of the turn'
const ENDED_AWAY = 'the turn ended while the connection was lost, and how is not known'
const NOT_ARRIVED = 'the agent has not received the prompt; send it again'

const metaOf = (value: Json): Json => asRecord(asRecord(value['_meta'])['agentproto'])

const seqOf = (value: Json): number | undefined => asNumber(metaOf(value)['seq'])

/** How a gateway says that a turn ended. */
function verdictOf({ stopReason, error }: Json): Verdict {
  if (error === undefined && stopReason !== 'error' && stopReason !== 'timeout')
    return responseVerdict({ result: { stopReason } }, undefined)
  const message = asString(error) ?? asString(asRecord(error)['message']) ?? FAILURES[String(stopReason)]
  return { reason: 'error', error: { message: message ?? 'The turn failed' } }
}

const FAILURES: Readonly<Record<string, string>> = { timeout: 'The turn ran out of time at the agent' }
