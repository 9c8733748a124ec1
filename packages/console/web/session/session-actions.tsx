import type { Session } from '@agentproto/client'
import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { useCalling } from '../parts/calling.js'
import { Fork } from './fork.js'

interface ActionsProps {
  readonly gateway: Gateway
  readonly session: Session
}

/** What a person can do with a whole session. */
export function SessionActions({ gateway, session }: ActionsProps) {
  const { id, resumable, agent, status } = session
  const { sessions } = gateway.client
  const { problem, isBusy, call } = useCalling()
  const isLive = status === 'starting' || status === 'running'
  return (
    <fieldset class="settings" disabled={isBusy}>
      <legend>Session</legend>
      {/* A title that came from elsewhere replaces the one in the field. */}
      <Rename key={session.title} gateway={gateway} session={session} />
      {agent?.capabilities.fork === true ? <Fork gateway={gateway} session={session} /> : null}
      {!isLive && resumable ? (
        <button type="button" onClick={() => void call(() => sessions.resume(id))}>
          Resume
        </button>
      ) : null}
      {isLive ? <Kill kill={() => void call(() => sessions.kill(id))} /> : null}
      <p class="problem" role="alert">
        {problem}
      </p>
    </fieldset>
  )
}

/** Relative to the page: the gateway is one folder above the console, below any path prefix. */
export function ExportLink({ id }: { readonly id: string }) {
  return (
    <a href={`../sessions/${encodeURIComponent(id)}/export?format=md`} download={`${id}.md`}>
      Export
    </a>
  )
}

function Rename({ gateway, session }: ActionsProps) {
  const { problem, isBusy, call } = useCalling()
  const rename = (event: SubmitEvent): void => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const title = new FormData(event.currentTarget).get('title')
    if (typeof title !== 'string') return
    const body = { title: title.trim() === '' ? null : title.trim() }
    void call(() => gateway.client.sessions.rename(session.id, body))
  }
  return (
    <form class="bar" onSubmit={rename}>
      <label>
        Title <input name="title" dir="auto" maxLength={200} defaultValue={session.title ?? ''} />
      </label>
      <button type="submit" disabled={isBusy}>
        Rename
      </button>
      <p class="problem" role="alert">
        {problem}
      </p>
    </form>
  )
}

/** A second press is needed, on another button: the first one under the pointer keeps the session. */
function Kill({ kill }: { readonly kill: () => void }) {
  const [isAsking, setIsAsking] = useState(false)
  if (!isAsking)
    return (
      <button type="button" onClick={() => setIsAsking(true)}>
        Kill…
      </button>
    )
  return (
    <div class="bar" role="group" aria-label="Kill the agent and all its processes?">
      <button type="button" autofocus onClick={() => setIsAsking(false)}>
        Keep it
      </button>
      <span>Kill the agent and all its processes?</span>
      <button type="button" class="dangerous" onClick={kill}>
        Kill
      </button>
    </div>
  )
}
