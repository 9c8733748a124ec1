import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'

interface VirtualListProps {
  readonly count: number
  readonly keyOf: (index: number) => string
  readonly row: (index: number) => ComponentChildren
  /** A guess of a row's height in pixels, until it is measured. */
  readonly estimate: number
  readonly label: string
}

/** Nearer to the end than this, in pixels, counts as at the end. */
const AT_END = 48

/**
 * A long list of which only the rows in view are in the document. It follows its end while the person is there, and stays put
 * when the person reads above.
 */
export function VirtualList({ count, keyOf, row, estimate, label }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const [, draw] = useReducer((frame: number) => frame + 1, 0)
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => estimate,
    getItemKey: keyOf,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => draw(undefined),
  }
  const [list] = useState(() => new Virtualizer(options))
  list.setOptions(options)
  // The library names what an adapter to a framework calls with an underscore.
  // oxlint-disable-next-line no-underscore-dangle
  useEffect(() => list._didMount(), [list])
  useLayoutEffect(() => {
    // oxlint-disable-next-line no-underscore-dangle
    list._willUpdate()
    const { current } = box
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight
  })
  const onScroll = ({ currentTarget: at }: { readonly currentTarget: HTMLDivElement }): void => {
    isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < AT_END
  }
  return (
    <div class="virtual" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-label={label}>
      <div class="virtual-space" style={{ height: `${list.getTotalSize()}px` }}>
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
  )
}
