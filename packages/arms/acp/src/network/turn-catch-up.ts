import type { Verdict } from '@agentproto/arm-kit'
import { asNumber, asRecord, type ContentBlock, isRecord, type Json } from '@agentproto/contracts'
import { AGENT_BOUNDS } from '../agent-bounds.js'
import { responseVerdict } from '../prompt.js'
import { RepeatedAsks } from './repeated-asks.js'
import { isOfTurn, type KnownTurn, promptKey, Prompts, Replay, type Said } from './replay.js'

/** What became of a turn while its connection was lost. */
export type TurnState =
  /** It runs on, and its end will be reported. */
  | { readonly how: 'continues' }
  | { readonly how: 'ended'; readonly verdict: Verdict }
  /** For people. */
  | { readonly how: 'unknown'; readonly why: string }

export interface CatchUpOptions {
  /** The agent numbers its updates, as a gateway of agentproto does (`_meta.agentproto`). */
  readonly isNumbered: boolean
  /** The session has no history. */
  readonly isNew: boolean
}

/**
 * What a session that is reached over the network knows of its turn, so that the turn can go on after the connection was lost.
 * With an agent that numbers its updates nothing is missing and nothing comes twice. The history that others replay is
 * compared with what was received.
 */
export class TurnCatchUp {
  readonly asks = new RepeatedAsks()
  /** The turn was cancelled while there was no connection. */
  isCancelPending = false
  readonly #isNumbered: boolean
  /** The number of the last update. */
  #seq: number | undefined
  #turn: KnownTurn | undefined
  /** The number of the turn in the agent, as far as it is known. */
  #number: number | undefined
  /** The turn goes on over another connection than that of its prompt. */
  #isFollowed = false
  #rejoin: Rejoin | undefined

  constructor({ isNumbered, isNew }: CatchUpOptions) {
    this.#isNumbered = isNumbered
    this.#seq = isNumbered && isNew ? 0 : undefined
  }

  /** A prompt is sent. */
  begin(prompt: readonly ContentBlock[]): void {
    const said = { 'text-delta': '', thought: '' }
    this.#turn = { prompt: promptKey(prompt), said, calls: new Set(), isWhole: true }
    this.#number = undefined
    this.#isFollowed = false
    this.asks.clear()
  }

  /** The agent answered a prompt: the number of its end. */
  answered(result: Json): void {
    this.#see(seqOf(result))
  }

  /** The number after which the agent is asked to go on; undefined where it numbers nothing. */
  get after(): number | undefined {
    return this.#seq
  }

  /** The session is loaded again. @param isTurn whether its turn was sent and has not ended */
  rejoin(isTurn: boolean): void {
    const replay = isTurn && this.#seq === undefined && this.#turn ? new Replay(this.#turn) : undefined
    this.#rejoin = { isTurn, replay, prompts: new Prompts(), ends: new Map() }
  }

  /** The session could not be loaded. */
  abort(): void {
    this.#rejoin = undefined
  }

  /** Sees an update. @returns whether the session is to have it now */
  takes(params: Json): boolean {
    if (!this.#see(seqOf(params))) return false
    const turn = asNumber(metaOf(params)['turn'])
    if (this.#rejoin) return this.#takesAgain(this.#rejoin, asRecord(params['update']), turn)
    if (turn !== undefined && !this.#isFollowed) this.#number = turn
    return true
  }

  /** The session has added something to its turn. */
  said(type: Said, text: string): void {
    const turn = this.#turn
    // Numbers are exact.
    if (!turn || this.#seq !== undefined) return
    if (turn.said[type].length + text.length > AGENT_BOUNDS.turnChars) turn.isWhole = false
    else turn.said[type] += text
  }

  called(toolCallId: string): void {
    const turn = this.#turn
    if (turn && this.#seq === undefined && turn.calls.size < AGENT_BOUNDS.turnCalls) turn.calls.add(toolCallId)
  }

  /**
   * The end of a turn that this connection did not prompt.
   * @returns how the session's turn ended, if it is that one
   */
  ended(params: Json): Verdict | undefined {
    if (!this.#see(seqOf(params))) return undefined
    const number = asNumber(params['turn'])
    const { ends } = this.#rejoin ?? {}
    if (ends && number !== undefined && ends.size < AGENT_BOUNDS.turnEnds) ends.set(number, verdictOf(params))
    if (ends || number !== this.#number) return undefined
    if (this.#isFollowed) return verdictOf(params)
    // Of another client, before the turn of this prompt.
    this.#number = undefined
    return undefined
  }

  /** The session is loaded. @returns the updates of the turn that are new, and what became of it */
  rejoined(result: Json): { readonly updates: readonly Json[]; readonly state: TurnState } {
    const rejoin = this.#rejoin
    this.#rejoin = undefined
    const updates = rejoin?.replay?.news() ?? []
    if (!this.#isNumbered || !rejoin) return { updates, state: unknown(CANNOT_FOLLOW) }
    return { updates, state: this.#stateOf(rejoin, asNumber(asRecord(metaOf(result)['turn'])['number'])) }
  }

  /** Returns false for what was received before. */
  #see(seq: number | undefined): boolean {
    if (!this.#isNumbered || seq === undefined) return true
    if (this.#seq !== undefined && seq <= this.#seq) return false
    this.#seq = seq
    return true
  }

  #takesAgain({ isTurn, replay, prompts }: Rejoin, update: Json, turn: number | undefined): boolean {
    const isPrompt = prompts.add(update, turn)
    if (replay?.add(update) === true) return false
    if (isPrompt) return false
    // Of turns of other clients.
    const isOther = !isTurn || (turn !== undefined && this.#number !== undefined && turn !== this.#number)
    return !(isOther && isOfTurn(update))
  }

  #stateOf({ prompts, ends }: Rejoin, running: number | undefined): TurnState {
    const number = this.#number ?? prompts.numberOf(this.#turn?.prompt)
    if (number === undefined) return unknown(NOT_ARRIVED)
    const verdict = ends.get(number)
    if (verdict) return { how: 'ended', verdict }
    if (running === undefined || running > number) return unknown(ENDED_AWAY)
    this.#number = number
    this.#isFollowed = true
    return { how: 'continues' }
  }
}

/** A session that is being loaded again. */
interface Rejoin {
  readonly isTurn: boolean
  /** Of an agent that begins with its whole history, while a turn runs. */
  readonly replay: Replay | undefined
  readonly prompts: Prompts
  /** How turns ended, by their numbers. */
  readonly ends: Map<number, Verdict>
}

const CANNOT_FOLLOW = 'the agent does not say what became of the turn'
const ENDED_AWAY = 'the turn ended while the connection was lost, and how is not known'
const NOT_ARRIVED = 'the agent has not received the prompt; send it again'

const unknown = (why: string): TurnState => ({ how: 'unknown', why })

const metaOf = (value: Json): Json => asRecord(asRecord(value['_meta'])['agentproto'])

const seqOf = (value: Json): number | undefined => asNumber(metaOf(value)['seq'])

/** As the answer to the prompt would have been. */
const verdictOf = ({ stopReason, error }: Json): Verdict =>
  responseVerdict(isRecord(error) ? { error } : { result: { stopReason } }, undefined)
