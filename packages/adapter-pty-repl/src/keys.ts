import type { ReplSettings } from './settings.js'

/** Enter, as a terminal sends it. */
export const ENTER = '\r'
const PASTE = { open: '\u001B[200~', close: '\u001B[201~' } as const

/** The keys to type for a prompt, or why it cannot be typed. */
export type Typing = { readonly keys: string; readonly echo: string } | { readonly refused: string }

/** The keys for a prompt. Control characters are keys, not text, so they are removed; a tab becomes four spaces. */
export function typing(prompt: string, { multiline, maxLineBytes }: ReplSettings): Typing {
  const text = prompt
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F]/g, '')
  const lines = text.split('\n')
  const long = lines.find((line) => Buffer.byteLength(line) > maxLineBytes)
  if (long !== undefined)
    return { refused: `A line of the prompt is longer than ${maxLineBytes} bytes, and the terminal would truncate it` }
  if (lines.length === 1) return { keys: text + ENTER, echo: text }
  if (multiline === undefined) return { refused: 'The agent accepts only prompts of one line' }
  if (multiline === 'paste') return { keys: PASTE.open + text + PASTE.close + ENTER, echo: text }
  const fenced = [multiline.open, ...lines, multiline.close]
  return { keys: fenced.map((line) => line + ENTER).join(''), echo: fenced.join('\n') }
}
