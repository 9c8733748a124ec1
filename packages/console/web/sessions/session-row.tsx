import type { Session, SessionRequest } from '@agentproto/client'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'
import { addressOf } from '../place.js'
import { ageText, costText } from './figures.js'

interface SessionRowProps {
  readonly session: Session
  readonly depth: number
  readonly waiting: SessionRequest | undefined
  readonly now: number
  /** Whether its host has to be said. */
  readonly isFleet: boolean
  /** Undefined where nothing can be stopped. */
  readonly isChosen: boolean | undefined
  readonly onChoose: (isChosen: boolean) => void
}

/** One session of the list: its state, what it waits for, what it changed and what it cost. */
export function SessionRowView({ session, depth, waiting, now, isFleet, isChosen, onChoose }: SessionRowProps) {
  const { id, state, adapterSlug, hostId, changes, usage, lastActiveAt } = session
  const name = session.label ?? session.title ?? id
  return (
    <div class={`session-row depth-${Math.min(depth, 4)}`}>
      {isChosen === undefined ? null : (
        <input
          type="checkbox"
          aria-label={`Choose ${shown(name)}`}
          checked={isChosen}
          onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
        />
      )}
      <a class="row" href={addressOf({ name: 'session', id })}>
        <span class={`state ${state}`}>{state}</span>
        <strong>
          <Outside text={name} />
        </strong>
        <span class="dim">
          <Outside text={isFleet ? `${adapterSlug} · ${hostId}` : adapterSlug} />
        </span>
        {waiting === undefined ? null : (
          <span class="note warning">
            waits: <Outside text={questionOf(waiting)} />
          </span>
        )}
        <span class="figures dim">
          {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
          <time dateTime={lastActiveAt}>{ageText(lastActiveAt, now)}</time>
        </span>
      </a>
      {changes === undefined ? null : (
        <a
          class="counts"
          href={addressOf({ name: 'changes', id })}
          aria-label={`+${changes.additions} −${changes.deletions}: changes of ${shown(name)}`}
        >
          +{changes.additions} −{changes.deletions}
        </a>
      )}
    </div>
  )
}

/** As much of a question as a row has room for. */
const QUESTION_CHARS = 120

function questionOf({ request }: SessionRequest): string {
  const text =
    request.kind === 'permission'
      ? (request.toolCall.title ?? request.toolCall.toolName ?? 'a permission')
      : request.message
  return text.length > QUESTION_CHARS ? `${text.slice(0, QUESTION_CHARS)}…` : text
}
