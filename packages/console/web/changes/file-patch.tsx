import type { Client } from '@agentproto/client'
import { useMemo } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'
import { runsOfPatch } from '../parts/patch-lines.js'
import { UnifiedPatch } from '../parts/patch.js'
import { Problem } from '../parts/problem.js'
import { useAnswer } from '../parts/use-answer.js'
import type { ChangedFile } from './changed-files.js'
import { readPatch } from './read-patch.js'
import { sidesOf } from './side-by-side.js'
import type { Span } from './span.js'

interface FilePatchProps {
  readonly client: Client
  readonly id: string
  readonly span: Span
  readonly file: ChangedFile
  readonly isSideBySide: boolean
  /** Changes when the files may have changed. */
  readonly version: string
}

/** The patch of one file. */
export function FilePatch({ client, id, span, file, isSideBySide, version }: FilePatchProps) {
  const key = JSON.stringify([id, span, file.path, version])
  const { value, problem } = useAnswer((signal) => readPatch(client, { id, span, file, signal }), key)
  return (
    <section class="file-patch" aria-labelledby="file">
      <h2 id="file">
        {file.oldPath === undefined ? null : (
          <>
            <Outside text={file.oldPath} /> →{' '}
          </>
        )}
        <Outside text={file.path} />
      </h2>
      <Problem text={problem} />
      {value === undefined && problem === '' ? <p class="dim">Reading</p> : null}
      {value === undefined ? null : <PatchView patch={value.text} isSideBySide={isSideBySide} />}
      {value?.isCut ? <p class="note warning">The rest is too long to show here.</p> : null}
    </section>
  )
}

function PatchView({ patch, isSideBySide }: { readonly patch: string; readonly isSideBySide: boolean }) {
  if (patch === '') return <p class="dim">No difference.</p>
  return isSideBySide ? <SideBySide patch={patch} /> : <UnifiedPatch patch={patch} label="Patch" />
}

function SideBySide({ patch }: { readonly patch: string }) {
  const pairs = useMemo(() => sidesOf(runsOfPatch(patch)), [patch])
  return (
    <div class="patch sides" role="region" tabIndex={0} aria-label="Patch, old and new side by side">
      {pairs.map((pair, index) =>
        pair.kind === 'note' ? (
          <pre key={index} class="note" dir="auto">
            {textOf(pair.lines, '')}
          </pre>
        ) : (
          <div key={index} class="pair">
            <pre class={pair.kind === 'same' ? 'same' : 'removed'} dir="auto">
              {textOf(pair.left, pair.kind === 'same' ? '  ' : '- ')}
            </pre>
            <pre class={pair.kind === 'same' ? 'same' : 'added'} dir="auto">
              {textOf(pair.right, pair.kind === 'same' ? '  ' : '+ ')}
            </pre>
          </div>
        ),
      )}
    </div>
  )
}

const textOf = (lines: readonly string[], sign: string): string =>
  lines.map((line) => `${sign}${shown(line)}`).join('\n')
