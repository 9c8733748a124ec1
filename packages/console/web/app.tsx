import { useEffect } from 'preact/hooks'
import type { Connection, Gateway } from './gateway/gateway.js'
import { Contained } from './parts/contained.js'
import { KeyHelp } from './parts/key-help.js'
import { addressOf, type Place } from './place.js'
import { ChangesPlace } from './places/changes.js'
import { HostsPlace } from './places/hosts.js'
import { Locked } from './places/locked.js'
import { NeedsYou } from './places/needs-you.js'
import { SessionPlace } from './places/session.js'
import { Sessions } from './places/sessions.js'
import { Settings } from './places/settings.js'
import { UsagePlace } from './places/usage.js'
import { place } from './router.js'
import { showInTab } from './tab-badge.js'

/** The frame of all places: where the person is, and whether what is shown is true now. */
export function App({ gateway }: { readonly gateway: Gateway }) {
  useEffect(() => void gateway.open(), [gateway])
  const count = gateway.waitingCount.value
  useEffect(() => showInTab(count), [count])
  if (gateway.connection.value === 'locked') return <Locked gateway={gateway} />
  return (
    <>
      <nav aria-label="Places">
        <span class="brand" aria-hidden="true">
          agentproto
        </span>
        <PlaceLink to={{ name: 'needs-you' }} label="Needs you" count={count} />
        <PlaceLink to={{ name: 'sessions' }} label="Sessions" />
        {gateway.hosts.isFleet.value ? <PlaceLink to={{ name: 'hosts' }} label="Hosts" /> : null}
        <PlaceLink to={{ name: 'usage' }} label="Usage" />
        <PlaceLink to={{ name: 'settings' }} label="Settings" />
        <KeyHelp isFleet={gateway.hosts.isFleet.value} />
        <p class={`connection ${gateway.connection.value}`} role="status">
          {CONNECTION_WORDS[gateway.connection.value]}
        </p>
      </nav>
      {/* Before the login is exchanged, what a place asks for would be refused. */}
      <main>
        {gateway.connection.value === 'connecting' ? null : (
          <Contained key={keyOf(place.value)} what="This place">
            <Current gateway={gateway} at={place.value} />
          </Contained>
        )}
      </main>
    </>
  )
}

/** A place stays as it is when only its filter changes: what was typed in it is not lost. */
const keyOf = (at: Place): string => ('id' in at ? addressOf(at) : at.name)

const CONNECTION_WORDS: Readonly<Record<Connection, string>> = {
  connecting: 'Connecting',
  connected: 'Connected',
  away: 'The gateway does not answer; trying again',
  locked: 'Logged out',
}

function Current({ gateway, at }: { readonly gateway: Gateway; readonly at: Place }) {
  switch (at.name) {
    case 'needs-you':
      return <NeedsYou gateway={gateway} />
    case 'sessions':
      return <Sessions gateway={gateway} host={at.host} />
    case 'session':
      return <SessionPlace key={at.id} gateway={gateway} id={at.id} />
    case 'changes':
      return <ChangesPlace key={at.id} gateway={gateway} id={at.id} />
    case 'hosts':
      return <HostsPlace gateway={gateway} wanted={at.host} />
    case 'usage':
      return <UsagePlace gateway={gateway} />
    case 'settings':
      return <Settings gateway={gateway} />
  }
}

function PlaceLink({ to, label, count = 0 }: { readonly to: Place; readonly label: string; readonly count?: number }) {
  return (
    <a href={addressOf(to)} {...(place.value.name === to.name ? { 'aria-current': 'page' as const } : {})}>
      {label}
      {count === 0 ? null : <span class="badge">{count}</span>}
    </a>
  )
}
