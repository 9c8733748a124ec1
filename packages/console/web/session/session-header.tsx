import type { Session } from '@agentproto/client'
import type { Gateway } from '../gateway/gateway.js'
import { HostLink } from '../hosts/host-link.js'
import { isAway } from '../hosts/is-away.js'
import { useCalling } from '../parts/calling.js'
import { Outside } from '../parts/outside.js'
import { addressOf } from '../place.js'
import { ExportLink, SessionActions } from './session-actions.js'
import { SessionSettings } from './session-settings.js'

interface HeaderProps {
  readonly gateway: Gateway
  readonly session: Session
}

/** Which session it is, what it does, and what a person can change about it. */
export function SessionHeader({ gateway, session }: HeaderProps) {
  const { id, label, title, state, adapterSlug, workspaceSlug, hostId, turn } = session
  const mayOperate = gateway.may('operate')
  const { problem, isBusy, call } = useCalling()
  return (
    <header>
      <div class="bar">
        <h1 id="place">
          <Outside text={label ?? title ?? id} />
        </h1>
        <span class={`state ${state}`}>{state}</span>
        <span class="dim">
          <Outside text={`${adapterSlug} · ${workspaceSlug}`} />
        </span>
        {gateway.hosts.isFleet.value ? (
          <span class="dim">
            on <HostLink name={hostId} />
          </span>
        ) : null}
        <Origin gateway={gateway} session={session} />
        {session.changes === undefined ? null : <a href={addressOf({ name: 'changes', id })}>Changes</a>}
        <ExportLink id={id} />
        {turn.state === 'idle' || !mayOperate ? null : (
          <button
            type="button"
            disabled={isBusy || isAway(session)}
            onClick={() => void call(() => gateway.client.sessions.interrupt(id))}
          >
            Interrupt
          </button>
        )}
      </div>
      <p class="problem" role="alert">
        {problem}
      </p>
      {mayOperate ? (
        <details class="controls">
          <summary>Settings and actions</summary>
          <fieldset class="together" disabled={isAway(session)}>
            <SessionSettings gateway={gateway} session={session} />
            <SessionActions gateway={gateway} session={session} />
          </fieldset>
        </details>
      ) : null}
    </header>
  )
}

/** The session that it was forked from, or whose agent started it. */
function Origin({ gateway, session: { forkedFrom, parentSessionId } }: HeaderProps) {
  const origin = forkedFrom ?? parentSessionId
  if (origin === undefined) return null
  const known = gateway.sessions.value.get(origin)
  return (
    <span class="dim">
      {forkedFrom === undefined ? 'started by ' : 'forked from '}
      <a href={addressOf({ name: 'session', id: origin })}>
        <Outside text={known?.label ?? known?.title ?? origin} />
      </a>
    </span>
  )
}
