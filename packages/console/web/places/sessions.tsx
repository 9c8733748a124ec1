import type { Session } from '@agentproto/client'
import { useSignal } from '@preact/signals'
import type { Gateway } from '../gateway/gateway.js'
import { Outside } from '../parts/outside.js'
import { addressOf } from '../router.js'

/** All sessions by workspace, those that wait for a person first. */
export function Sessions({ gateway }: { readonly gateway: Gateway }) {
  const filter = useSignal('')
  const isLiveOnly = useSignal(true)
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = [...gateway.sessions.value.values()]
    .filter((session) => !isLiveOnly.value || !ENDED.has(session.state))
    .filter((session) => words.every((word) => searchable(session).includes(word)))
  return (
    <section aria-labelledby="place">
      <h1 id="place">Sessions</h1>
      <div class="bar">
        <input
          type="search"
          aria-label="Filter"
          placeholder="Filter by label, agent, workspace, state"
          value={filter.value}
          onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
        />
        <label>
          <input
            type="checkbox"
            checked={!isLiveOnly.value}
            onChange={({ currentTarget }) => (isLiveOnly.value = !currentTarget.checked)}
          />
          ended ones too
        </label>
      </div>
      {[...byWorkspace(found)].map(([workspace, sessions]) => (
        <section key={workspace} aria-label={workspace}>
          <h2>
            <Outside text={workspace} />
          </h2>
          <ul class="rows">
            {sessions.map((session) => (
              <li key={session.id}>
                <SessionRow session={session} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {found.length === 0 ? <p class="dim">No session matches.</p> : null}
    </section>
  )
}

function SessionRow({ session }: { readonly session: Session }) {
  const { id, label, title, state, adapterSlug, changes, pendingRequests } = session
  return (
    <a class="row" href={addressOf({ name: 'session', id })}>
      <span class={`state ${state}`}>{pendingRequests > 0 ? 'waiting' : state}</span>
      <strong>
        <Outside text={label ?? title ?? id} />
      </strong>
      <span class="dim">
        <Outside text={adapterSlug} />
      </span>
      {changes === undefined ? null : (
        <span class="counts">
          +{changes.additions} −{changes.deletions}
        </span>
      )}
    </a>
  )
}

const ENDED: ReadonlySet<Session['state']> = new Set(['ended', 'failed'])
const RANK: Readonly<Record<Session['state'], number>> = {
  waiting: 0,
  busy: 1,
  starting: 2,
  idle: 3,
  asleep: 4,
  failed: 5,
  ended: 6,
}

function byWorkspace(sessions: readonly Session[]): Map<string, Session[]> {
  const sorted = sessions.toSorted(
    (a, b) => RANK[a.state] - RANK[b.state] || b.lastActiveAt.localeCompare(a.lastActiveAt),
  )
  return Map.groupBy(sorted, ({ workspaceSlug }) => workspaceSlug)
}

const searchable = ({ id, label, title, state, adapterSlug, workspaceSlug }: Session): string =>
  [id, label, title, state, adapterSlug, workspaceSlug].join(' ').toLowerCase()
