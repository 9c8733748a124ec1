import type { SessionRequest } from '@agentproto/client'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { AnswerGuard } from '../gateway/answer-guard.js'
import type { Gateway } from '../gateway/gateway.js'
import { isAway } from '../hosts/is-away.js'
import { Contained } from '../parts/contained.js'
import { RequestCard } from './request-card.js'

interface RequestListProps {
  readonly gateway: Gateway
  /** Only those of one session. */
  readonly sessionId?: string
}

/** What waits for a person, oldest first, with what was answered elsewhere a moment ago. */
export function RequestList({ gateway, sessionId }: RequestListProps) {
  const [guard] = useState(() => new AnswerGuard())
  const requests = [...gateway.requests.pending.value, ...answeredOnly(gateway)]
    .filter((request) => sessionId === undefined || request.sessionId === sessionId)
    .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
  const which = requests
    .map((each) => `${each.requestId} ${each.state} ${isAway(gateway.sessions.value.get(each.sessionId))}`)
    .join()
  useLayoutEffect(() => guard.restart(performance.now()), [guard, which])
  useEffect(() => {
    const restart = (): void => guard.restart(performance.now())
    document.addEventListener('visibilitychange', restart)
    return () => document.removeEventListener('visibilitychange', restart)
  }, [guard])
  return (
    <>
      {requests.map((request) => (
        <Contained key={request.requestId} what="A request of an agent">
          <RequestCard gateway={gateway} request={request} guard={guard} />
        </Contained>
      ))}
    </>
  )
}

function answeredOnly({ requests: { answered, pending } }: Gateway): readonly SessionRequest[] {
  const still = new Set(pending.value.map(({ requestId }) => requestId))
  return answered.value.filter(({ requestId }) => !still.has(requestId))
}
