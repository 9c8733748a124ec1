// Writes docs/attach.svg, the screen of `sessions --attach` that an end-to-end test captured from the real program:
// node tooling/attach-picture.mjs. A test checks that the file is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { screenPicture } from './screen-picture.mjs'

const SCREEN = new URL('../packages/cli/test/golden/attach-permission.txt', import.meta.url)
const PICTURE = new URL('../docs/attach.svg', import.meta.url)
/** Beginnings of rows, and their colours: the capture has no colours. */
const COLOURS = [
  [/^❯ /, '#e6edf3', 'bold'],
  [/^(──|try ·)/, '#7d8590'],
  [/^[▶☐☑] /, '#79c0ff'],
  [/^\? /, '#e3b341'],
  [/^ {2}\[y\]/, '#e6edf3', 'bold'],
  [/^ {4}\+ /, '#7ee787'],
  [/^ {2}✓/, '#7ee787'],
  [/^● /, '#d2a8ff'],
]

export const attachPicture = () =>
  screenPicture(readFileSync(SCREEN, 'utf8'), {
    label: 'agentproto sessions --attach: a conversation with a plan, a diff, and a permission request',
    colours: COLOURS,
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PICTURE, attachPicture())
