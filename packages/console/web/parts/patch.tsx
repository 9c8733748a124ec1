import { useMemo } from 'preact/hooks'
import { Pieces } from './outside.js'
import { shown } from './shown-text.js'
import { type PatchRun, runsOfPatch, runsOfTexts } from './patch-lines.js'

interface DifferenceProps {
  readonly before: string
  readonly after: string
  readonly label: string
}

/** What changes between two texts: everything that differs, coloured and with its sign. */
export function Difference({ before, after, label }: DifferenceProps) {
  const runs = useMemo(() => runsOfTexts(before, after), [before, after])
  return <Runs runs={runs} label={label} />
}

/** A unified patch, as git writes it. */
export function UnifiedPatch({ patch, label }: { readonly patch: string; readonly label: string }) {
  const runs = useMemo(() => runsOfPatch(patch), [patch])
  return <Runs runs={runs} label={label} />
}

interface RunsProps {
  readonly runs: readonly PatchRun[]
  readonly label: string
}

/** One element for each run, so that a change of many thousand lines is a few elements. */
function Runs({ runs, label }: RunsProps) {
  return (
    <div class="patch" role="region" tabIndex={0} aria-label={label}>
      {runs.map((run, index) => (
        <pre key={index} class={run.kind} dir="auto">
          <Pieces text={run.lines.map((line) => `${SIGN[run.kind]}${shown(line)}`).join('\n')} />
        </pre>
      ))}
    </div>
  )
}

/** A colour alone would not reach everybody. */
const SIGN: Readonly<Record<PatchRun['kind'], string>> = { added: '+ ', removed: '- ', same: '  ', note: '' }
