import type { Gateway } from '../gateway/gateway.js'
import { RequestCard } from '../parts/request-card.js'

/** Every pending question of every session, oldest first. */
export function NeedsYou({ gateway }: { readonly gateway: Gateway }) {
  const waiting = gateway.waiting.value
  return (
    <section aria-labelledby="place">
      <h1 id="place">Needs you</h1>
      {waiting.length === 0 ? <p class="dim">No agent waits for you.</p> : null}
      {waiting.map((request) => (
        <RequestCard
          key={request.requestId}
          gateway={gateway}
          request={request}
          session={gateway.sessions.value.get(request.sessionId)}
        />
      ))}
    </section>
  )
}
