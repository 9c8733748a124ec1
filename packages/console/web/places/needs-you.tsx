import type { Gateway } from '../gateway/gateway.js'
import { HostLink } from '../hosts/host-link.js'
import { NotifyButton } from '../parts/notify-button.js'
import { RequestList } from '../requests/request-list.js'

/** Every pending question of every session, oldest first. */
export function NeedsYou({ gateway }: { readonly gateway: Gateway }) {
  const isNothing = gateway.waitingCount.value === 0 && gateway.requests.missing.value.length === 0
  return (
    <section aria-labelledby="place">
      <header class="bar">
        <h1 id="place">Needs you</h1>
        <NotifyButton />
      </header>
      {gateway.requests.missing.value.map((host) => (
        <p key={host} class="note warning">
          The host <HostLink name={host} /> does not answer: more waits there than is shown here.
        </p>
      ))}
      {isNothing ? <p class="dim">No agent waits for you.</p> : null}
      <RequestList gateway={gateway} />
    </section>
  )
}
