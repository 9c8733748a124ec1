/** One bar of a plot, in the plot's own units: it is `width` wide and `height` high. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The size of a plot, in its own units. */
export const PLOT = { width: 600, height: 160 } as const

/** A bar alone would fill the plot. */
const WIDEST = 48

/** Bars of the values beside each other, the greatest as high as the plot; none for values that are all zero. */
export function barsOf(values: readonly { readonly label: string; readonly value: number }[]): readonly Bar[] {
  const greatest = values.reduce((most, { value }) => Math.max(most, value), 0)
  const step = PLOT.width / Math.max(values.length, 1)
  return values.map(({ label, value }, index) => {
    const height = greatest === 0 ? 0 : (value / greatest) * PLOT.height
    return { label, value, x: index * step, y: PLOT.height - height, width: Math.min(step * 0.8, WIDEST), height }
  })
}
