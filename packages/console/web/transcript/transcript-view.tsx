import { useCallback, useEffect, useMemo } from 'preact/hooks'
import type { SessionFeed } from '../gateway/session-feed.js'
import { KeptNumbers } from '../parts/kept-number.js'
import { VirtualList } from '../parts/virtual-list.js'
import { PlanView } from '../session/plan-view.js'
import { EarlierEvents } from './earlier-events.js'
import { PartView } from './part-view.js'
import type { Part } from './part.js'
import type { ReadingPlace } from './reading-place.js'

interface TranscriptViewProps {
  readonly feed: SessionFeed
  readonly place: ReadingPlace
}

/** What the session said and did, at its end or where the person was reading. */
export function TranscriptView({ feed, place }: TranscriptViewProps) {
  const kept = useMemo(() => new Map<string, number>(), [feed])
  useEffect(() => place.keepOnLeave(), [place])
  const { parts, plan, lastSeq } = feed.transcript
  const keyOf = useCallback((index: number) => parts[index]?.key ?? 0, [parts])
  // Reading it makes each frame draw this view again.
  void feed.frame.value
  return (
    <KeptNumbers.Provider value={kept}>
      {feed.problem.value === '' ? null : <p role="alert">{feed.problem.value}</p>}
      <PlanView entries={plan} />
      {feed.earlier.value === undefined ? null : (
        <VirtualList
          count={parts.length}
          estimate={(index) => heightOf(parts[index])}
          label="Transcript"
          keyOf={keyOf}
          head={<EarlierEvents feed={feed} />}
          news={lastSeq}
          firstRow={place.rowIn(parts)}
          onNearStart={() => feed.earlierProblem.value === '' && void feed.loadEarlier()}
          onPlace={(index) => place.set(index === undefined ? undefined : parts[index]?.seq)}
          row={(index) => {
            const part = parts[index]
            return part === undefined ? null : <PartView part={part} revision={part.revision} />
          }}
        />
      )}
    </KeptNumbers.Provider>
  )
}

/**
 * A guess in pixels, which may not read the text: all rows are guessed again when one is added. Too low a guess of a long text
 * would draw many more parts than are in view.
 */
function heightOf(part: Part | undefined): number {
  if (part?.type !== 'text' && part?.type !== 'prompt') return LINE + MARGINS
  return Math.ceil(part.text.length / LINE_CHARS) * LINE + MARGINS
}

/** Of prose and code on a wide screen, in pixels and in characters. */
const LINE = 24
const LINE_CHARS = 70
const MARGINS = 12
