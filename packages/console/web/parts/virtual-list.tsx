import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type Range,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

export interface VirtualListProps {
  readonly count: number
  /** Another function when rows were put in front, the same one when rows were added at the end. */
  readonly keyOf: (index: number) => number
  readonly row: (index: number) => ComponentChildren
  /** A guess of a row's height in pixels, until it is measured. */
  readonly estimate: (index: number) => number
  readonly label: string
  /** What is above the first row, in a line. */
  readonly head: ComponentChildren
  /** Grows with what is new at the end. */
  readonly news: number
  /** The row to begin at; undefined for the end. Used once, with the first rows. */
  readonly firstRow: number | undefined
  /** The person comes near to the first row, or all rows are in view. */
  readonly onNearStart: () => void
  /** The first row in view, or undefined at the end. */
  readonly onPlace: (index: number | undefined) => void
}

type List = Virtualizer<HTMLDivElement, HTMLDivElement>

/** Nearer to the end than this, in pixels, counts as at the end: less than a press of an arrow key scrolls. */
const AT_END = 32
/** Nearer to the start than this many heights of the list, more rows are wanted in front. */
const NEAR_START = 3
/** How much is drawn around what is in view, in pixels, and at most in rows on each side. */
const MARGIN = 600
const MARGIN_ROWS = 12
/** The height of the head in pixels, as in the style. */
const HEAD = 40

/**
 * A long list of which only the rows in view are in the document. It follows its end while the person is there, and stays put
 * when the person reads above, also when rows are put in front.
 */
export function VirtualList(props: VirtualListProps) {
  const { label, head, row } = props
  const box = useRef<HTMLDivElement>(null)
  const top = useRef(0)
  const list = useVirtualizer(props, { box, top })
  const end = useEnd(props, { box, top, list })
  return (
    <div class="virtual-frame">
      <div class="virtual" ref={box} onScroll={end.onScroll} tabIndex={0} role="log" aria-label={label}>
        <div class="virtual-space" style={{ height: `${list.getTotalSize()}px` }}>
          <div class="virtual-head">{head}</div>
          {list.getVirtualItems().map(({ key, index, start }) => (
            <div
              key={key}
              class="virtual-row"
              data-index={index}
              ref={list.measureElement}
              style={{ transform: `translateY(${start}px)` }}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
      {end.isThere ? null : (
        <button type="button" class="to-end" onClick={end.go}>
          {end.hasNews ? 'New below ↓' : 'To the end ↓'}
        </button>
      )}
    </div>
  )
}

interface ListRefs {
  readonly box: { readonly current: HTMLDivElement | null }
  /** Where the list was last known to be: nearer to the start, a person has scrolled, even if that was not reported yet. */
  readonly top: { current: number }
}

function useVirtualizer({ count, keyOf, estimate }: VirtualListProps, { box, top }: ListRefs): List {
  const [, draw] = useReducer((frame: number) => frame + 1, 0)
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count,
    getScrollElement: () => box.current,
    estimateSize: estimate,
    getItemKey: keyOf,
    paddingStart: HEAD,
    rangeExtractor: (range) => withMargin(range, (index) => list.measurementsCache[index]?.size ?? 0),
    // Keeps the first row in view where it is when rows come in front.
    anchorTo: 'end',
    observeElementRect,
    observeElementOffset,
    scrollToFn: (offset, how, instance) => {
      elementScroll(offset, how, instance)
      top.current = box.current?.scrollTop ?? 0
    },
    onChange: () => draw(undefined),
  }
  const [list] = useState(() => new Virtualizer(options))
  list.setOptions(options)
  // The library names what an adapter to a framework calls with an underscore.
  // oxlint-disable-next-line no-underscore-dangle
  useEffect(() => list._didMount(), [list])
  // oxlint-disable-next-line no-underscore-dangle
  useLayoutEffect(() => list._willUpdate())
  return list
}

/** The rows in view, and those around them that are drawn before a person scrolls there: short rows are many, of a high one none more. */
function withMargin({ startIndex, endIndex, count }: Range, heightOf: (index: number) => number): number[] {
  let start = startIndex
  let end = endIndex
  for (let px = 0; start > 0 && px < MARGIN && startIndex - start < MARGIN_ROWS; px += heightOf(start)) start--
  for (let px = 0; end < count - 1 && px < MARGIN && end - endIndex < MARGIN_ROWS; px += heightOf(end)) end++
  return Array.from({ length: end - start + 1 }, (_, index) => start + index)
}

/** Whether the person is at the end, and how to follow it. */
function useEnd(props: VirtualListProps, { box, top, list }: ListRefs & { readonly list: List }) {
  const { count, news, firstRow, onNearStart, onPlace } = props
  const [isThere, setIsThere] = useState(firstRow === undefined)
  const seen = useRef(news)
  const isPlaced = useRef(false)
  if (isThere) seen.current = news
  useLayoutEffect(() => {
    const { current: at } = box
    if (at === null || count === 0) return
    const isFollowing = isThere && (isNearEnd(at) || at.scrollTop >= top.current)
    if (!isPlaced.current && firstRow !== undefined) list.scrollToIndex(firstRow, { align: 'start' })
    else if (isFollowing) top.current = scrollToEnd(at)
    isPlaced.current = true
    if (at.scrollTop < NEAR_START * at.clientHeight) onNearStart()
  })
  const onScroll = ({ currentTarget: at }: { readonly currentTarget: HTMLDivElement }): void => {
    const { scrollTop } = at
    const isNear = isNearEnd(at)
    // Only who scrolls up leaves the end: below it grows, too.
    if (isNear || scrollTop < top.current) setIsThere(isNear)
    top.current = scrollTop
    if (scrollTop < NEAR_START * at.clientHeight) onNearStart()
    onPlace(isNear ? undefined : list.getVirtualItemForOffset(scrollTop)?.index)
  }
  const goToEnd = (): void => {
    top.current = 0
    setIsThere(true)
  }
  return { isThere, hasNews: news > seen.current, go: goToEnd, onScroll }
}

const isNearEnd = (at: HTMLDivElement): boolean => at.scrollHeight - at.scrollTop - at.clientHeight < AT_END

/** @returns where the list is then */
function scrollToEnd(at: HTMLDivElement): number {
  at.scrollTop = at.scrollHeight
  return at.scrollTop
}
