import type { Session } from '@agentproto/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { SessionFeed } from '../gateway/session-feed.js'
import { Outside } from '../parts/outside.js'
import { VirtualList } from '../parts/virtual-list.js'
import { RequestList } from '../requests/request-list.js'
import { PartView } from '../transcript/part-view.js'

/** One session: what it said and did, what it asks, and a box to prompt it. */
export function SessionPlace({ gateway, id }: { readonly gateway: Gateway; readonly id: string }) {
  const feed = useMemo(() => new SessionFeed(gateway.client, id), [gateway, id])
  useEffect(() => () => feed.close(), [feed])
  const session = gateway.sessions.value.get(id)
  return (
    <section class="session" aria-labelledby="place">
      {session === undefined ? null : <Header gateway={gateway} session={session} />}
      <TranscriptView feed={feed} />
      <RequestList gateway={gateway} sessionId={id} />
      <PromptBox gateway={gateway} id={id} isBusy={session?.turn.state !== 'idle'} />
    </section>
  )
}

function Header({ gateway, session }: { readonly gateway: Gateway; readonly session: Session }) {
  const { id, label, title, state, adapterSlug, workspaceSlug, turn } = session
  return (
    <header class="bar">
      <h1 id="place">
        <Outside text={label ?? title ?? id} />
      </h1>
      <span class={`state ${state}`}>{state}</span>
      <span class="dim">
        <Outside text={`${adapterSlug} · ${workspaceSlug}`} />
      </span>
      {turn.state === 'idle' ? null : (
        <button type="button" onClick={() => void gateway.client.sessions.interrupt(id)}>
          Interrupt
        </button>
      )}
    </header>
  )
}

function TranscriptView({ feed }: { readonly feed: SessionFeed }) {
  const { parts } = feed.transcript
  // Reading it makes each frame draw this view again.
  void feed.frame.value
  return (
    <>
      {feed.problem.value === '' ? null : <p role="alert">{feed.problem.value}</p>}
      <VirtualList
        count={parts.length}
        estimate={60}
        label="Transcript"
        keyOf={(index) => parts[index]?.key ?? ''}
        row={(index) => {
          const part = parts[index]
          return part === undefined ? null : <PartView part={part} />
        }}
      />
    </>
  )
}

interface PromptBoxProps {
  readonly gateway: Gateway
  readonly id: string
  readonly isBusy: boolean
}

function PromptBox({ gateway, id, isBusy }: PromptBoxProps) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  const send = async (): Promise<void> => {
    const prompt = text.trim()
    if (prompt === '') return
    setText('')
    setProblem('')
    await gateway.client.sessions.prompt(id, { prompt, whenBusy: 'queue' }).catch((thrown: unknown) => {
      setText(prompt)
      setProblem(thrown instanceof Error ? thrown.message : String(thrown))
    })
  }
  return (
    <form
      class="prompt-box"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        aria-label="Prompt"
        rows={3}
        value={text}
        placeholder={isBusy ? 'The agent works; a prompt is queued' : 'Prompt'}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void send()
        }}
      />
      <button type="submit">{isBusy ? 'Queue' : 'Send'}</button>
      <p role="alert">{problem}</p>
    </form>
  )
}
