// A captured screen of a terminal as a picture, for the documentation.
const [LINE, LETTER, MARGIN, BAR] = [20, 8.4, 16, 32]

/**
 * @param {string} screen The rows, as they were captured
 * @param {{ label: string, colours: readonly [RegExp, string, string?][] }} look Beginnings of rows with their colours, since the capture has none
 * @returns {string} an SVG document
 */
export function screenPicture(screen, { label, colours }) {
  const rows = screen.trimEnd().split('\n')
  const width = Math.ceil(Math.max(...rows.map((row) => row.length)) * LETTER + 2 * MARGIN)
  const height = BAR + rows.length * LINE + 2 * MARGIN
  const texts = rows.map((row, index) => text(row, BAR + MARGIN + (index + 0.7) * LINE, colours)).join('\n')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="16" r="6" fill="#ff5f56"/><circle cx="40" cy="16" r="6" fill="#ffbd2e"/><circle cx="60" cy="16" r="6" fill="#27c93f"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9" xml:space="preserve">
${texts}
</g>
</svg>
`
}

function text(row, y, colours) {
  const [, colour = '#c9d1d9', weight = 'normal'] = colours.find(([start]) => start.test(row)) ?? []
  return `<text x="${MARGIN}" y="${y}" fill="${colour}" font-weight="${weight}">${escaped(row)}</text>`
}

const escaped = (line) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
