import type { AnswerRequest, SessionRequest } from '@agentproto/client'
import { useState } from 'preact/hooks'
import type { AnswerGuard } from '../gateway/answer-guard.js'
import type { Gateway } from '../gateway/gateway.js'

export interface RequestCardProps {
  readonly gateway: Gateway
  readonly request: SessionRequest
  readonly guard: AnswerGuard
}

/** What a card says below its answers, and how it gives one. */
export interface Answering {
  readonly note: string
  readonly isBusy: boolean
  /** @returns whether a press at this moment counts; otherwise the card says why not */
  readonly counts: () => boolean
  readonly answer: (body: AnswerRequest) => void
}

/** What the gateway takes at most. */
export const REASON_CHARS = 2_000

/** A denial with its reason, if there is one. */
export function withReason(answer: AnswerRequest, reason: string): AnswerRequest {
  const text = reason.trim()
  return text === '' ? answer : { ...answer, reason: text }
}

export function useAnswering({ gateway, request, guard }: RequestCardProps): Answering {
  const [note, setNote] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const counts = (): boolean => {
    const isReady = guard.isReady(performance.now())
    setNote(isReady ? '' : 'Too early to have read it. Press again.')
    return isReady
  }
  const answer = (body: AnswerRequest): void => {
    setIsBusy(true)
    gateway
      .answer(request, body)
      .catch((thrown: unknown) => setNote(thrown instanceof Error ? thrown.message : String(thrown)))
      .finally(() => setIsBusy(false))
  }
  return { note, isBusy, counts, answer }
}
