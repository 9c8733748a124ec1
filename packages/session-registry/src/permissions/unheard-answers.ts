import type { Session, SessionEvent, SessionRequest } from '@agentproto/contracts'
import { decisionOf, nameOf } from './remembered-answer.js'
import { matchOfRequest } from './rule-making.js'
import type { SessionPermissions } from './session-permissions.js'

/**
 * Answers of a person that the agent may not have received before its gateway died. When the conversation is resumed and
 * the agent asks for the same call again, the answer holds for it, once, so that a person is not asked twice. As soon as
 * the agent emits anything about the call, the answer counts as used.
 */
export class UnheardAnswers {
  readonly #asked = new Map<string, SessionEvent & { readonly type: 'agent-prompt' }>()
  readonly #answered = new Map<string, SessionEvent & { readonly type: 'agent-prompt-resolved' }>()

  /** Follows the log of the interrupted turn. */
  follow(event: SessionEvent): void {
    if (event.type === 'agent-prompt') this.#asked.set(event.requestId, event)
    if (event.type === 'agent-prompt-resolved' && event.by.type === 'principal')
      this.#answered.set(event.requestId, event)
    if (event.type === 'tool-call' || event.type === 'tool-result') this.#received(event.toolCallId)
    if (event.type === 'turn-end') this.#answered.clear()
  }

  /** Keeps them with a session that can be resumed. */
  async keep(permissions: SessionPermissions, { id: sessionId, resumable }: Session): Promise<void> {
    if (!resumable) return
    for (const [requestId, { answer, by }] of this.#answered) {
      const request: SessionRequest['request'] | undefined = this.#asked.get(requestId)?.request
      const decision = request && decisionOf(request, answer)
      if (request?.kind !== 'permission' || decision === undefined) continue
      const match = await matchOfRequest(request, { cwd: permissions.cwd, decision, lifetime: 'once' })
      if (match === undefined) continue
      await permissions.add({
        decision,
        lifetime: 'once',
        match,
        createdBy: nameOf(by),
        from: { sessionId, requestId },
      })
    }
  }

  #received(toolCallId: string): void {
    for (const requestId of this.#answered.keys()) {
      const request = this.#asked.get(requestId)?.request
      if (request?.kind === 'permission' && request.toolCall.toolCallId === toolCallId) this.#answered.delete(requestId)
    }
  }
}
