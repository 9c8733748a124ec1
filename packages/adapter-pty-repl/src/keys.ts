import type { ReplSettings } from './settings.js'

/** Enter, as a terminal sends it. */
export const ENTER = '\r'
const PASTE = { open: '\u001B[200~', close: '\u001B[201~' } as const

/** A prompt as it is typed, or why it cannot be. */
export type Typing = { readonly keys: string; readonly echo: string } | { readonly refused: string }

/** How a prompt is typed. Control characters are keys and no text: they are left out, and a tab is four spaces. */
export function typing(prompt: string, { multiline, maxLineBytes }: ReplSettings): Typing {
  const text = prompt
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F]/g, '')
  const lines = text.split('\n')
  const long = lines.find((line) => Buffer.byteLength(line) > maxLineBytes)
  if (long !== undefined)
    return { refused: `A line of the prompt is longer than ${maxLineBytes} bytes, which its terminal would cut` }
  if (lines.length === 1) return { keys: text + ENTER, echo: text }
  if (multiline === undefined) return { refused: 'The agent takes a prompt of one line only' }
  if (multiline === 'paste') return { keys: PASTE.open + text + PASTE.close + ENTER, echo: text }
  const fenced = [multiline.open, ...lines, multiline.close]
  return { keys: fenced.map((line) => line + ENTER).join(''), echo: fenced.join('\n') }
}
