import type { Session } from '@agentproto/client'
import { useMemo, useState } from 'preact/hooks'
import { type ChangedFile, type Changes, treeOf } from '../changes/changed-files.js'
import { FilePatch } from '../changes/file-patch.js'
import { FileTree } from '../changes/file-tree.js'
import { Rewind } from '../changes/rewind.js'
import { newestTurns, queryOf, type Span, spanOf } from '../changes/span.js'
import { WorktreeEnd } from '../changes/worktree-end.js'
import type { Gateway } from '../gateway/gateway.js'
import { HostNote } from '../hosts/host-note.js'
import { isAway } from '../hosts/is-away.js'
import { Outside, OutsideBlock } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { addressOf } from '../place.js'

interface ChangesPlaceProps {
  readonly gateway: Gateway
  readonly id: string
}

/** What a session changed in its folder, by turn, since the person's review, or all of it. */
export function ChangesPlace({ gateway, id }: ChangesPlaceProps) {
  const session = gateway.sessions.value.get(id)
  const [span, setSpan] = useState<Span>('all')
  const [round, setRound] = useState(0)
  const again = (): void => setRound(round + 1)
  return (
    <section class="changes" aria-labelledby="place">
      <header class="bar">
        <h1 id="place">
          Changes of{' '}
          <a href={addressOf({ name: 'session', id })}>
            <Outside text={session?.label ?? session?.title ?? id} />
          </a>
        </h1>
        <SpanChoice span={span} turnCount={session?.turnCount ?? 0} onChange={setSpan} />
        <button type="button" onClick={again}>
          Read again
        </button>
      </header>
      {session === undefined ? null : <HostNote gateway={gateway} session={session} />}
      {gateway.may('operate') ? (
        <fieldset class="together" disabled={isAway(session)}>
          <Actions gateway={gateway} id={id} onDone={again} />
        </fieldset>
      ) : null}
      <ChangeList key={String(span)} {...{ gateway, id, span, version: `${round} ${versionOf(session)}` }} />
    </section>
  )
}

interface ChangeListProps extends ChangesPlaceProps {
  readonly span: Span
  /** Changes when the files may have changed. */
  readonly version: string
}

function ChangeList({ gateway, id, span, version }: ChangeListProps) {
  const { value, problem } = useAnswer(
    (signal) => gateway.client.changes.list(id, queryOf(span), { signal }),
    JSON.stringify([id, span, version]),
  )
  return (
    <>
      <Problem text={problem} />
      {value === undefined ? null : <Warnings of={value} />}
      {value === undefined ? null : <Files {...{ gateway, id, span, version, changes: value }} />}
    </>
  )
}

/** Changes whenever the files, or what was reviewed of them, may have changed. */
const versionOf = (session: Session | undefined): string =>
  JSON.stringify([session?.turnCount, session?.turn.state, session?.state, session?.changes, session?.reviewed?.at])

interface SpanChoiceProps {
  readonly span: Span
  readonly turnCount: number
  readonly onChange: (span: Span) => void
}

function SpanChoice({ span, turnCount, onChange }: SpanChoiceProps) {
  return (
    <label>
      Show{' '}
      <select value={String(span)} onChange={({ currentTarget }) => onChange(spanOf(currentTarget.value))}>
        <option value="all">all since the start</option>
        <option value="review">since my review</option>
        {newestTurns(turnCount).map((turn) => (
          <option key={turn} value={turn}>
            turn {turn}
          </option>
        ))}
      </select>
    </label>
  )
}

function Actions({ gateway, id, onDone }: ChangesPlaceProps & { readonly onDone: () => void }) {
  const session = gateway.sessions.value.get(id)
  const { client } = gateway
  const reviewing = useAction()
  const review = async (): Promise<void> => {
    if ((await reviewing.run(() => client.changes.markReviewed(id))) !== undefined) onDone()
  }
  return (
    <div class="actions">
      <button type="button" disabled={reviewing.isBusy} onClick={() => void review()}>
        Mark as reviewed
      </button>
      {session?.reviewed === undefined ? null : (
        <span class="dim">Reviewed {new Date(session.reviewed.at).toLocaleString()}</span>
      )}
      <Problem text={reviewing.problem} />
      <Rewind client={client} id={id} turnCount={session?.turnCount ?? 0} onDone={onDone} />
      {session?.worktree === undefined ? null : (
        <WorktreeEnd client={client} id={id} worktree={session.worktree} onDone={onDone} />
      )}
    </div>
  )
}

function Warnings({ of: { shared, leftOut, files, totals } }: { readonly of: Changes }) {
  return (
    <>
      {shared ? (
        <p class="note warning">Another session worked in this folder meanwhile: its changes are among these.</p>
      ) : null}
      {totals.files > files.length ? (
        <p class="note warning">
          {files.length} of {totals.files} files are listed.
        </p>
      ) : null}
      {leftOut.length === 0 ? null : (
        <details class="note warning">
          <summary>{leftOut.length} paths are not recorded: their changes are not known.</summary>
          <OutsideBlock text={leftOut.map(({ path, reason }) => `${path} (${reason})`).join('\n')} />
        </details>
      )}
    </>
  )
}

interface FilesProps extends ChangeListProps {
  readonly changes: Changes
}

function Files({ gateway, id, span, changes, version }: FilesProps) {
  const [chosen, setChosen] = useState<string>()
  const [isSideBySide, setIsSideBySide] = useState(false)
  const tree = useMemo(() => treeOf(changes.files), [changes])
  const file: ChangedFile | undefined = changes.files.find(({ path }) => path === chosen) ?? changes.files[0]
  if (file === undefined) return <p class="dim">No changed files.</p>
  return (
    <div class="files">
      <nav class="file-list" aria-label="Changed files">
        <p class="bar">
          {changes.totals.files === 1 ? '1 file' : `${changes.totals.files} files`}
          <span class="counts">
            +{changes.totals.additions} −{changes.totals.deletions}
          </span>
        </p>
        <FileTree folder={tree} selected={file.path} onSelect={({ path }) => setChosen(path)} />
      </nav>
      <div class="file-shown">
        <label class="wide-only">
          <input
            type="checkbox"
            checked={isSideBySide}
            onChange={({ currentTarget }) => setIsSideBySide(currentTarget.checked)}
          />{' '}
          side by side
        </label>
        <FilePatch key={file.path} {...{ client: gateway.client, id, span, file, isSideBySide, version }} />
      </div>
    </div>
  )
}
