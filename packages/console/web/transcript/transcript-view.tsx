import { useCallback, useEffect, useMemo } from 'preact/hooks'
import type { SessionFeed } from '../gateway/session-feed.js'
import { KeptNumbers } from '../parts/kept-number.js'
import { VirtualList } from '../parts/virtual-list.js'
import { PlanView } from '../session/plan-view.js'
import { EarlierEvents } from './earlier-events.js'
import { PartView } from './part-view.js'
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
          estimate={60}
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
