import type { Session, SessionRequest } from '@agentproto/client'
import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { addressOf } from '../router.js'
import { Outside, OutsideBlock } from './outside.js'

interface RequestCardProps {
  readonly gateway: Gateway
  readonly request: SessionRequest
  readonly session: Session | undefined
}

/** One question of an agent with all that is decided, and its answers. */
export function RequestCard({ gateway, request: waiting, session }: RequestCardProps) {
  const [problem, setProblem] = useState<string>()
  const { request, sessionId, requestId } = waiting
  const answer = async (body: Parameters<Gateway['client']['sessions']['answer']>[2]): Promise<void> => {
    setProblem(undefined)
    await gateway.client.sessions.answer(sessionId, requestId, body).catch((thrown: unknown) => {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown))
    })
  }
  return (
    <article class="card request" aria-labelledby={`title-${requestId}`}>
      <header>
        <h2 id={`title-${requestId}`}>{request.kind === 'permission' ? 'Permission' : 'Question'}</h2>
        <a href={addressOf({ name: 'session', id: sessionId })}>
          <Outside text={session?.label ?? session?.title ?? sessionId} />
        </a>
        <span class="dim">
          <Outside text={[session?.adapterSlug, session?.workspaceSlug].filter(Boolean).join(' · ')} />
        </span>
      </header>
      {request.kind === 'permission' ? <Asked call={request.toolCall} /> : <OutsideBlock text={request.message} />}
      <div class="answers" role="group" aria-label="Answers">
        {request.kind === 'permission'
          ? request.options.map(({ optionId, name, kind }) => (
              <button key={optionId} type="button" class={kind} onClick={() => void answer({ optionId })}>
                {KIND_WORDS[kind]} <Outside text={name} />
              </button>
            ))
          : null}
        {request.kind === 'question' ? (
          <button type="button" onClick={() => void answer({ action: 'decline' })}>
            Decline
          </button>
        ) : null}
      </div>
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </article>
  )
}

type ToolCall = Extract<SessionRequest['request'], { readonly kind: 'permission' }>['toolCall']

/** Our own words for what an option does: its name is the agent's. */
const KIND_WORDS = {
  allow_once: 'Allow once:',
  allow_always: 'Allow always:',
  reject_once: 'Deny once:',
  reject_always: 'Deny always:',
} as const

function Asked({ call }: { readonly call: ToolCall }) {
  const paths = (call.locations ?? []).map(({ path }) => path)
  return (
    <dl class="facts">
      <dt>Kind</dt>
      <dd>{call.kind ?? 'other'}</dd>
      {paths.length === 0 ? null : <dt>Files</dt>}
      {paths.length === 0 ? null : (
        <dd>
          <OutsideBlock text={paths.join('\n')} />
        </dd>
      )}
      {call.input === undefined ? null : <dt>Input</dt>}
      {call.input === undefined ? null : (
        <dd>
          <OutsideBlock text={typeof call.input === 'string' ? call.input : JSON.stringify(call.input, null, 2)} />
        </dd>
      )}
      <dt>The agent says</dt>
      <dd>
        <Outside text={call.title ?? call.toolName ?? ''} />
      </dd>
    </dl>
  )
}
