import type { Gateway } from '../gateway/gateway.js'
import { NotifyButton } from '../parts/notify-button.js'
import { RequestList } from '../requests/request-list.js'

/** Every pending question of every session, oldest first. */
export function NeedsYou({ gateway }: { readonly gateway: Gateway }) {
  return (
    <section aria-labelledby="place">
      <header class="bar">
        <h1 id="place">Needs you</h1>
        <NotifyButton />
      </header>
      {gateway.waitingCount.value === 0 ? <p class="dim">No agent waits for you.</p> : null}
      <RequestList gateway={gateway} />
    </section>
  )
}
