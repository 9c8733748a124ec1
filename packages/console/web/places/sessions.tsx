import type { Session } from '@agentproto/client'
import { isLive } from '@agentproto/contracts'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { HostFilter } from '../hosts/host-filter.js'
import { isAway, lastState } from '../hosts/is-away.js'
import { Outside } from '../parts/outside.js'
import { BulkStop } from '../sessions/bulk-stop.js'
import { type Grouping, groupsOf, type SessionGroup } from '../sessions/session-groups.js'
import { SessionRowView } from '../sessions/session-row.js'
import { StartDialog } from '../sessions/start-dialog.js'

interface SessionsProps {
  readonly gateway: Gateway
  /** Only those of this host. */
  readonly host: string | undefined
}

/** All sessions by workspace or state, those that wait for a person first. */
export function Sessions({ gateway, host }: SessionsProps) {
  const [words, setWords] = useState('')
  const [by, setBy] = useState<Grouping>('workspace')
  const [withEnded, setWithEnded] = useState(false)
  const [isStarting, setIsStarting] = useState(false)
  const all = gateway.sessions.value
  const groups = useMemo(
    () => groupsOf(found([...all.values()], { words, withEnded, host }), by),
    [all, words, withEnded, host, by],
  )
  const isFleet = gateway.hosts.isFleet.value
  const mayOperate = gateway.may('operate')
  return (
    <section aria-labelledby="place">
      <div class="bar">
        <h1 id="place">Sessions</h1>
        {mayOperate ? (
          <button type="button" class="primary" onClick={() => setIsStarting(true)}>
            Start a session
          </button>
        ) : null}
      </div>
      <div class="bar">
        <input
          type="search"
          aria-label="Filter"
          placeholder={`Filter by label, agent, workspace, ${isFleet ? 'host, ' : ''}state`}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
        <HostFilter gateway={gateway} host={host} />
        <label>
          by{' '}
          <select
            value={by}
            onChange={({ currentTarget: { value } }) =>
              setBy(value === 'state' || value === 'host' ? value : 'workspace')
            }
          >
            <option value="workspace">workspace</option>
            <option value="state">state</option>
            {isFleet ? <option value="host">host</option> : null}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={withEnded}
            onChange={({ currentTarget }) => setWithEnded(currentTarget.checked)}
          />{' '}
          ended ones too
        </label>
      </div>
      <Groups gateway={gateway} groups={groups} />
      {groups.length === 0 ? <p class="dim">No session matches.</p> : null}
      {isStarting ? <StartDialog gateway={gateway} host={host} onClose={() => setIsStarting(false)} /> : null}
    </section>
  )
}

interface GroupsProps {
  readonly gateway: Gateway
  readonly groups: readonly SessionGroup[]
}

function Groups({ gateway, groups }: GroupsProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const ids = groups.flatMap(({ rows }) => rows).filter(({ session }) => isStoppable(session) && chosen.has(session.id))
  const choose = (id: string, isChosen: boolean): void => {
    const next = new Set(chosen)
    if (isChosen) next.add(id)
    else next.delete(id)
    setChosen(next)
  }
  return (
    <>
      {gateway.may('operate') ? (
        <BulkStop
          client={gateway.client}
          ids={ids.map(({ session }) => session.id)}
          onDone={() => setChosen(new Set())}
        />
      ) : null}
      {groups.map((group) => (
        <Group key={group.name} gateway={gateway} group={group} chosen={chosen} onChoose={choose} />
      ))}
    </>
  )
}

interface GroupProps {
  readonly gateway: Gateway
  readonly group: SessionGroup
  readonly chosen: ReadonlySet<string>
  readonly onChoose: (id: string, isChosen: boolean) => void
}

/** So many sessions of a group are shown at first, and so many more at each wish. */
const ROWS = 200

function Group({ gateway, group: { name, rows }, chosen, onChoose }: GroupProps) {
  const [limit, setLimit] = useState(ROWS)
  const now = useMinute()
  const waiting = new Map(gateway.requests.pending.value.map((request) => [request.sessionId, request]))
  const mayOperate = gateway.may('operate')
  const isFleet = gateway.hosts.isFleet.value
  return (
    <section aria-label={name}>
      <h2>
        <Outside text={name} />
      </h2>
      <ul class="rows">
        {rows.slice(0, limit).map(({ session, depth }) => (
          <li key={session.id}>
            <SessionRowView
              session={session}
              depth={depth}
              waiting={waiting.get(session.id)}
              now={now}
              isFleet={isFleet}
              isChosen={mayOperate && isStoppable(session) ? chosen.has(session.id) : undefined}
              onChoose={(isChosen) => onChoose(session.id, isChosen)}
            />
          </li>
        ))}
      </ul>
      {rows.length <= limit ? null : (
        <button type="button" onClick={() => setLimit(limit + ROWS)}>
          {rows.length - limit} more
        </button>
      )}
    </section>
  )
}

/** The time, at least once a minute: ages grow when nothing else happens. */
function useMinute(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** Nothing of a host that is not heard from can be stopped now. */
const isStoppable = (session: Session): boolean => isLive(session) && !isAway(session)

const ENDED: ReadonlySet<Session['state']> = new Set(['ended', 'failed'])

interface Filter {
  readonly words: string
  readonly withEnded: boolean
  readonly host: string | undefined
}

function found(sessions: readonly Session[], filter: Filter): readonly Session[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean)
  return sessions
    .filter(({ hostId }) => filter.host === undefined || hostId === filter.host)
    .filter((session) => filter.withEnded || !ENDED.has(lastState(session)))
    .filter((session) => words.every((word) => searchable(session).includes(word)))
}

const searchable = ({ id, label, title, state, adapterSlug, workspaceSlug, hostId }: Session): string =>
  [id, label, title, state, adapterSlug, workspaceSlug, hostId].join(' ').toLowerCase()
