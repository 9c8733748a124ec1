import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { foundHosts } from '../hosts/found-hosts.js'
import { HostRow } from '../hosts/host-row.js'
import { useHosts } from '../hosts/use-hosts.js'
import { Problem } from '../parts/problem.js'

interface HostsPlaceProps {
  readonly gateway: Gateway
  /** The host that the person came for. */
  readonly wanted: string | undefined
}

/** So many hosts are shown at first, and so many more at each wish. */
const ROWS = 100

/** The hosts that work as one fleet: which are away, where there is room, and what each has. */
export function HostsPlace({ gateway, wanted }: HostsPlaceProps) {
  const [words, setWords] = useState('')
  const [limit, setLimit] = useState(ROWS)
  const hosts = useHosts(gateway)
  const found = foundHosts(hosts, words)
  // The one that is wanted is among those that are shown.
  const first = found.findIndex(({ name }) => name === wanted)
  const rows = found.slice(0, Math.max(limit, first + 1))
  const away = hosts.filter(({ reachable }) => !reachable).length
  const now = Date.now()
  return (
    <section aria-labelledby="place">
      <div class="bar">
        <h1 id="place">Hosts</h1>
        <input
          type="search"
          aria-label="Search in the hosts"
          placeholder="Name, label, workspace, agent"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
        <p role="status" class={away === 0 ? 'dim' : 'problem'}>
          {gateway.hosts.isFleet.value ? `${hosts.length - away} of ${hosts.length} reachable` : ''}
        </p>
      </div>
      <Problem text={gateway.hosts.problem.value} />
      {hosts.length === 1 ? <p class="dim">This gateway works alone: it has joined no fleet.</p> : null}
      {wanted !== undefined && hosts.length > 0 && first < 0 && words === '' ? (
        <p class="dim">The host that you look for is not one of the fleet any more.</p>
      ) : null}
      {words !== '' && found.length === 0 ? <p class="dim">No host matches.</p> : null}
      <ul class="rows" aria-label="Hosts">
        {rows.map((host) => (
          <HostRow key={host.name} host={host} now={now} isWanted={host.name === wanted} />
        ))}
      </ul>
      {found.length <= rows.length ? null : (
        <button type="button" onClick={() => setLimit(limit + ROWS)}>
          {found.length - rows.length} more
        </button>
      )}
    </section>
  )
}
