import type { Session } from '@agentproto/client'
import type { Gateway } from '../gateway/gateway.js'
import { isAway } from '../hosts/is-away.js'
import { LongText } from '../parts/long-text.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { queuedPrompts } from './queued-prompts.js'

interface QueueViewProps {
  readonly gateway: Gateway
  readonly session: Session
}

/** The prompts that wait for the end of the running turn, each with a button that takes it back; nothing if none waits. */
export function QueueView({ gateway, session }: QueueViewProps) {
  const { id, turnCount, queuedPrompts: count = 0 } = session
  const { value = [] } = useAnswer(
    () => queuedPrompts(gateway.client, session),
    JSON.stringify([id, turnCount, count, isAway(session)]),
  )
  const action = useAction()
  if (count === 0) return null
  // Only the host itself has them; its session says that it is away.
  if (isAway(session)) return null
  return (
    <details class="queue">
      <summary>{count === 1 ? '1 prompt is queued' : `${count} prompts are queued`}</summary>
      <ol class="rows" aria-label="Queued prompts">
        {value.map(({ turn, text }) => (
          <li key={turn}>
            <LongText text={text} label={`Queued prompt ${turn}`} />
            {gateway.may('operate') ? (
              <button
                type="button"
                disabled={action.isBusy}
                onClick={() => void action.run(() => gateway.client.sessions.interrupt(id, { turn }))}
              >
                Take prompt {turn} back
              </button>
            ) : null}
          </li>
        ))}
      </ol>
      <Problem text={action.problem} />
    </details>
  )
}
