import { isAgentprotoError, type Client, type Session } from '@agentproto/client'
import { useState } from 'preact/hooks'
import { ConfirmButton } from '../parts/confirm-button.js'
import { Outside, OutsideBlock } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'

type Worktree = NonNullable<Session['worktree']>

interface WorktreeEndProps {
  readonly client: Client
  readonly id: string
  readonly worktree: Worktree
  readonly onDone: () => void
}

/** What is done at last with the worktree of a session: its branch is merged, or all of it is deleted. */
export function WorktreeEnd({ client, id, worktree, onDone }: WorktreeEndProps) {
  return (
    <details class="action">
      <summary>
        Worktree on <Outside text={worktree.branch} />
      </summary>
      <p class="dim">
        In <Outside text={worktree.path} />, started from <Outside text={worktree.base} />
      </p>
      <Merge client={client} id={id} worktree={worktree} onDone={onDone} />
      <Discard client={client} id={id} onDone={onDone} />
    </details>
  )
}

const STRATEGIES = { merge: 'with a merge commit', squash: 'as one commit', rebase: 'rebased' } as const
type Strategy = keyof typeof STRATEGIES
const isStrategy = (word: string): word is Strategy => Object.hasOwn(STRATEGIES, word)

function Merge({ client, id, worktree, onDone }: WorktreeEndProps) {
  const [strategy, setStrategy] = useState<Strategy>('merge')
  const [done, setDone] = useState('')
  const [conflicts, setConflicts] = useState<readonly string[]>([])
  const action = useAction()
  const merge = (): Promise<unknown> =>
    action.run(async () => {
      setDone('')
      setConflicts([])
      try {
        const { into, commit, commits } = await client.sessions.merge(id, { strategy })
        setDone(commits === 0 ? `Nothing to merge into ${into}.` : `${into} is now at ${commit.slice(0, 12)}.`)
        onDone()
      } catch (thrown) {
        setConflicts(filesOf(thrown))
        throw thrown
      }
    })
  return (
    <div class="bar">
      <label>
        Merge{' '}
        <select
          value={strategy}
          onChange={({ currentTarget: { value } }) => void (isStrategy(value) && setStrategy(value))}
        >
          {Object.entries(STRATEGIES).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <ConfirmButton
        label="Merge"
        question={`Merge ${worktree.branch} into ${worktree.base}? Uncommitted work is committed first.`}
        isBusy={action.isBusy}
        onConfirm={() => void merge()}
      />
      <p role="status">
        <Outside text={done} />
      </p>
      <Problem text={action.problem} />
      {conflicts.length === 0 ? null : <OutsideBlock label="Files in conflict" text={conflicts.join('\n')} />}
    </div>
  )
}

function Discard({ client, id, onDone }: Omit<WorktreeEndProps, 'worktree'>) {
  const [wouldLose, setWouldLose] = useState(false)
  const [done, setDone] = useState('')
  const action = useAction()
  const discard = (force: boolean): Promise<unknown> =>
    action.run(async () => {
      try {
        await client.sessions.discard(id, { force })
        setDone('The worktree is deleted.')
        setWouldLose(false)
        onDone()
      } catch (thrown) {
        setWouldLose(isAgentprotoError(thrown) && thrown.code === 'worktree_unsaved')
        throw thrown
      }
    })
  return (
    <div class="bar">
      <ConfirmButton
        label="Discard"
        question="Delete the worktree? Work that would be lost keeps it."
        isBusy={action.isBusy}
        onConfirm={() => void discard(false)}
      />
      {wouldLose ? (
        <ConfirmButton
          label="Delete the unsaved work too"
          question="This work is lost for good. Delete it?"
          isBusy={action.isBusy}
          onConfirm={() => void discard(true)}
        />
      ) : null}
      <p role="status">{done}</p>
      <Problem text={action.problem} />
    </div>
  )
}

/** The files that an error names: those in conflict, or those that are not committed. */
function filesOf(thrown: unknown): readonly string[] {
  const files = isAgentprotoError(thrown) ? thrown.parts.data?.['files'] : undefined
  return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : []
}
