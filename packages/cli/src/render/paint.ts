/** Colours as functions, so that renderers need not know whether there are any. */
export interface Paint {
  readonly on: boolean
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  blue(text: string): string
  cyan(text: string): string
}

export function createPaint(on: boolean): Paint {
  const style = (open: number, close: number) => (text: string) =>
    on && text !== '' ? `\u001B[${open}m${text}\u001B[${close}m` : text
  return {
    on,
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    blue: style(34, 39),
    cyan: style(36, 39),
  }
}

/** https://no-color.org and the FORCE_COLOR custom; else colours are for terminals. */
export function wantsColour(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
