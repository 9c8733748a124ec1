import type { ForkRequest, Session } from '@agentproto/client'
import { useState } from 'preact/hooks'
import { newestTurns } from '../changes/span.js'
import type { Gateway } from '../gateway/gateway.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { goTo } from '../router.js'

interface ForkProps {
  readonly gateway: Gateway
  readonly session: Session
}

/** A new session whose agent knows the conversation: in the same folder, or in a worktree with the files of a turn. */
export function Fork({ gateway, session: { id, turnCount } }: ForkProps) {
  const [hasWorktree, setHasWorktree] = useState(false)
  const action = useAction()
  const fork = async (form: HTMLFormElement): Promise<void> => {
    const forked = await action.run(() => gateway.client.sessions.fork(id, forkRequest(new FormData(form))))
    if (forked !== undefined) goTo({ name: 'session', id: forked.id })
  }
  return (
    <form
      class="bar"
      aria-label="Fork"
      onSubmit={(event) => {
        event.preventDefault()
        void fork(event.currentTarget)
      }}
    >
      <label>
        Label of the fork <input name="label" dir="auto" maxLength={200} autocomplete="off" />
      </label>
      <label>
        <input
          type="checkbox"
          name="worktree"
          checked={hasWorktree}
          onChange={({ currentTarget }) => setHasWorktree(currentTarget.checked)}
        />{' '}
        in a git worktree of its own
      </label>
      {hasWorktree ? <TurnChoice turnCount={turnCount} /> : null}
      <button type="submit" disabled={action.isBusy}>
        Fork
      </button>
      <Problem text={action.problem} />
    </form>
  )
}

const TurnChoice = ({ turnCount }: Pick<Session, 'turnCount'>) => (
  <label>
    Its files are{' '}
    <select name="turn">
      <option value="">those that are committed</option>
      {newestTurns(turnCount).map((turn) => (
        <option key={turn} value={turn}>
          as at the end of turn {turn}
        </option>
      ))}
      <option value="0">as at the start of the session</option>
    </select>
  </label>
)

function forkRequest(form: FormData): ForkRequest {
  const text = (name: string): string => {
    const value = form.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  return {
    ...(text('label') === '' ? {} : { label: text('label') }),
    ...(form.has('worktree') ? { worktree: true } : {}),
    ...(text('turn') === '' ? {} : { turn: Number(text('turn')) }),
  }
}
