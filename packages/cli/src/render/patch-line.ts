import type { Paint } from './paint.js'
import { printable } from './printable.js'

/** A line of a unified patch, made safe for a terminal and coloured. */
export function paintPatchLine(line: string, paint: Paint): string {
  const text = printable(line)
  if (/^(?:diff |index |--- |\+\+\+ |similarity |rename |new file |deleted file |old mode |new mode )/.test(line))
    return paint.bold(text)
  if (line.startsWith('@@')) return paint.cyan(text)
  if (line.startsWith('+')) return paint.green(text)
  return line.startsWith('-') ? paint.red(text) : text
}
