import type { Client } from '@agentproto/client'
import { useState } from 'preact/hooks'
import { Outside, OutsideBlock } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { newestTurns } from './span.js'

type Rewound = Awaited<ReturnType<Client['changes']['rewind']>>

interface RewindProps {
  readonly client: Client
  readonly id: string
  readonly turnCount: number
  readonly onDone: () => void
}

/** Sets the files back to those of a turn. It says first what that would change; only then there is a button that does it. */
export function Rewind({ client, id, turnCount, onDone }: RewindProps) {
  const [turn, setTurn] = useState(0)
  const [isForced, setIsForced] = useState(false)
  const [result, setResult] = useState<Rewound>()
  const action = useAction()
  const rewind = async (to: { readonly turn: number } | { readonly checkpoint: string }, dryRun: boolean) => {
    const rewound = await action.run(() => client.changes.rewind(id, { ...to, dryRun, force: isForced }))
    setResult(rewound)
    if (rewound?.dryRun === false) onDone()
  }
  const before = result?.before
  return (
    <details class="action">
      <summary>Rewind files</summary>
      <div class="bar">
        <label>
          Back to{' '}
          <select
            value={turn}
            onChange={({ currentTarget }) => {
              setTurn(Number(currentTarget.value))
              setResult(undefined)
            }}
          >
            <option value={0}>the start of the session</option>
            {newestTurns(turnCount).map((number) => (
              <option key={number} value={number}>
                the end of turn {number}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={isForced}
            onChange={({ currentTarget }) => setIsForced(currentTarget.checked)}
          />{' '}
          also while another session works in the folder
        </label>
        <button type="button" disabled={action.isBusy} onClick={() => void rewind({ turn }, true)}>
          Show what would change
        </button>
      </div>
      <Problem text={action.problem} />
      {result === undefined ? null : <Result of={result} />}
      {result?.dryRun === true && result.changedCount > 0 ? (
        <button type="button" disabled={action.isBusy} onClick={() => void rewind({ turn }, false)}>
          Rewind {files(result.changedCount)}
        </button>
      ) : null}
      {result?.dryRun === false && before !== undefined ? (
        <button type="button" disabled={action.isBusy} onClick={() => void rewind({ checkpoint: before }, false)}>
          Undo
        </button>
      ) : null}
    </details>
  )
}

/** So many paths are named. */
const NAMED = 200

function Result({ of: { dryRun, changed, changedCount, kept } }: { readonly of: Rewound }) {
  return (
    <div role="status">
      <p>
        {changedCount === 0
          ? 'No file differs.'
          : `${files(changedCount)} ${dryRun ? 'would be set back:' : 'set back. Nothing is lost: undo restores them.'}`}
      </p>
      {changed.length === 0 ? null : (
        <OutsideBlock
          label="Files"
          text={changed
            .slice(0, NAMED)
            .map(({ path, status }) => `${status} ${path}`)
            .join('\n')}
        />
      )}
      {changedCount > NAMED ? <p class="dim">and {changedCount - NAMED} more</p> : null}
      {kept.length === 0 ? null : <p>These stay as they are:</p>}
      <ul>
        {kept.slice(0, NAMED).map(({ path, reason, detail }) => (
          <li key={path}>
            <Outside text={path} /> ({reason}
            {detail === undefined ? null : (
              <>
                : <Outside text={detail} />
              </>
            )}
            )
          </li>
        ))}
      </ul>
    </div>
  )
}

const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`)
