import { type Conversation, isContentBlock } from '@agentproto/arm-kit'
import { type AgentNotice, asRecord, asString, type Json, promptText } from '@agentproto/contracts'
import type { SessionConfig } from './config.js'
import type { TurnCatchUp } from './network/turn-catch-up.js'
import { extension, noticeOf } from './notice.js'
import { parseToolUpdate } from './tool-call.js'

/** `loading`: the agent replays history. `loaded`: it answered the load, but may still replay. `live`: updates are new. */
export type Phase = 'loading' | 'loaded' | 'live'

/** What the updates of a session become: parts of its turn, notices, or history that is left out. */
export class SessionUpdates {
  phase: Phase
  /** Updates of history that were left out. */
  replayed = 0
  readonly #conversation: Conversation
  readonly #config: SessionConfig
  readonly #catchUp: TurnCatchUp | undefined

  constructor(phase: Phase, { conversation, config, catchUp }: UpdatedSession) {
    this.phase = phase
    this.#conversation = conversation
    this.#config = config
    this.#catchUp = catchUp
  }

  /** Adds the update of a `session/update`. */
  add(params: Json): void {
    if (this.#catchUp?.takes(params) === false) this.replayed++
    else this.#add(asRecord(params['update']))
  }

  #add(update: Json): void {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#addText('text-delta', update)
      case 'agent_thought_chunk':
        return this.#addText('thought', update)
      case 'tool_call':
      case 'tool_call_update':
        return this.#addToolCall(update)
      case 'user_message_chunk':
        return this.#addOutsideOfTurn(update)
      case 'config_option_update':
        return this.#conversation.addNotice({
          type: 'config',
          config: this.#config.optionsChanged(update['configOptions']),
        })
      default:
        return this.#addNotice(noticeOf(update))
    }
  }

  #addText(type: 'text-delta' | 'thought', update: Json): void {
    if (!this.#conversation.turn) return this.#addOutsideOfTurn(update)
    const content = asRecord(update['content'])
    const plain = content['type'] === 'text' ? asString(content['text']) : undefined
    if (plain === undefined) this.#conversation.addNotice(extension(String(update['sessionUpdate']), update))
    const text = plain ?? (isContentBlock(content) ? promptText([content]) : '')
    this.#conversation.addText(type, text, asString(update['messageId']))
    this.#catchUp?.said(type, text)
  }

  #addToolCall(update: Json): void {
    const call = parseToolUpdate(update)
    if (call) this.#catchUp?.called(call.toolCallId)
    if (!this.#conversation.turn || !call) this.#addOutsideOfTurn(update)
    else if (!this.#conversation.addToolUpdate(call))
      this.#conversation.addNotice(extension(String(update['sessionUpdate']), update))
  }

  /** Messages that belong to no turn: history, or an agent that goes on after its turn's end. */
  #addOutsideOfTurn(update: Json): void {
    if (this.phase !== 'live') this.replayed++
    else this.#conversation.addNotice(extension(String(update['sessionUpdate']), update))
  }

  #addNotice(notice: AgentNotice): void {
    const isState = notice.type === 'config' || notice.type === 'title' || notice.type === 'usage'
    if (this.phase === 'loading' && !isState) this.replayed++
    else this.#conversation.addNotice(notice)
  }
}

interface UpdatedSession {
  readonly conversation: Conversation
  readonly config: SessionConfig
  readonly catchUp: TurnCatchUp | undefined
}
