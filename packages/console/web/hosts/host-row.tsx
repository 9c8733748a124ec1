import type { Host } from '@agentproto/contracts/wire'
import { useEffect, useRef } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'
import { addressOf } from '../place.js'
import { ageText } from '../sessions/figures.js'
import { hostState } from './host-state.js'

interface HostRowProps {
  readonly host: Host
  /** In milliseconds. */
  readonly now: number
  /** It is the one that the person looks for. */
  readonly isWanted: boolean
}

/** What one host has, and whether it is heard from. */
export function HostRow({ host, now, isWanted }: HostRowProps) {
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isWanted) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isWanted])
  const { name, self, version, labels, adapters, workspaces } = host
  const state = hostState(host)
  return (
    <li ref={row} class={`setting host ${isWanted ? 'wanted' : ''}`} aria-label={shown(name)}>
      <div class="bar">
        <strong>
          <Outside text={name} />
        </strong>
        <span class={`state ${state}`}>{state}</span>
        {self === true ? <span class="dim">serves this page</span> : null}
        <LastSeen host={host} now={now} />
        <a class="its-sessions" href={addressOf({ name: 'sessions', host: name })}>
          Sessions of <Outside text={name} />
        </a>
      </div>
      <Figures host={host} />
      <dl class="facts">
        <Names term="Labels" names={Object.entries(labels).map(([label, value]) => `${label}=${value}`)} />
        <Names term="Workspaces" names={workspaces} />
        <Names term="Agents" names={adapters} />
        <Names term="Version" names={[version]} />
      </dl>
    </li>
  )
}

/** A host that is away is shown as it last reported: then its figures are of that time. */
function LastSeen({ host, now }: Pick<HostRowProps, 'host' | 'now'>) {
  const { lastSeen } = host
  const state = hostState(host)
  if (state === 'reachable') return null
  return (
    <span class={state === 'stopped' ? 'dim' : 'problem'}>
      {state === 'stopped' ? 'stopped' : 'not heard from since'}{' '}
      <time dateTime={lastSeen}>{new Date(lastSeen).toLocaleString()}</time> ({ageText(lastSeen, now)} ago)
    </span>
  )
}

function Figures({ host: { liveSessions, freeSessions, lag } }: { readonly host: Host }) {
  return (
    <ul class="host-figures">
      <li>
        <b>{number(liveSessions)}</b> live
      </li>
      <li>
        <b>{number(freeSessions)}</b> free
      </li>
      <li class={lag === 0 ? '' : 'note warning'}>
        <b>{number(lag)}</b> {lag === 1 ? 'event' : 'events'} behind
      </li>
    </ul>
  )
}

function Names({ term, names }: { readonly term: string; readonly names: readonly string[] }) {
  return (
    <div class="fact">
      <dt>{term}</dt>
      <dd>
        {names.length === 0 ? <span class="dim">none</span> : null}
        {names.map((name, index) => (
          <span key={name}>
            <Outside text={name} />
            {index < names.length - 1 ? ', ' : ''}
          </span>
        ))}
      </dd>
    </div>
  )
}

const number = (value: number): string => value.toLocaleString('en')
