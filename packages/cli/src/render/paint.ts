import picocolors from 'picocolors'

/** Colours as functions. Without colours each returns its text, so that renderers need not ask. */
export type Paint = ReturnType<typeof picocolors.createColors>

/** How rows are rendered: with which colours, in at most how many columns. */
export interface Frame {
  readonly paint: Paint
  readonly width: number
}

export const createPaint = (enabled: boolean): Paint => picocolors.createColors(enabled)

/** NO_COLOR (https://no-color.org), then FORCE_COLOR, then whether this stream is a terminal. */
export function wantsColor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
