// Writes docs/attach.svg, the screen of `sessions --attach` that an end-to-end test captured from the real program:
// node tooling/attach-picture.mjs. A test checks that the file is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SCREEN = new URL('../packages/cli/test/golden/attach-permission.txt', import.meta.url)
const PICTURE = new URL('../docs/attach.svg', import.meta.url)
const [LINE, LETTER, MARGIN, BAR] = [20, 8.4, 16, 32]

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

export function attachPicture() {
  const rows = readFileSync(SCREEN, 'utf8').trimEnd().split('\n')
  const width = Math.ceil(Math.max(...rows.map((row) => row.length)) * LETTER + 2 * MARGIN)
  const height = BAR + rows.length * LINE + 2 * MARGIN
  const texts = rows.map((row, index) => text(row, BAR + MARGIN + (index + 0.7) * LINE)).join('\n')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="agentproto sessions --attach: a conversation with a plan, a diff, and a permission request">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="16" r="6" fill="#ff5f56"/><circle cx="40" cy="16" r="6" fill="#ffbd2e"/><circle cx="60" cy="16" r="6" fill="#27c93f"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9" xml:space="preserve">
${texts}
</g>
</svg>
`
}

function text(row, y) {
  const [, colour = '#c9d1d9', weight = 'normal'] = COLOURS.find(([start]) => start.test(row)) ?? []
  return `<text x="${MARGIN}" y="${y}" fill="${colour}" font-weight="${weight}">${escaped(row)}</text>`
}

const escaped = (line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PICTURE, attachPicture())
