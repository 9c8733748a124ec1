// Prints a session's lines, in the colours of `agentproto sessions --attach`.

const plain = !process.stdout.isTTY || 'NO_COLOR' in process.env || process.env.TERM === 'dumb'
const paint = (code, text) => (plain ? text : `\u001B[${code}m${text}\u001B[0m`)

const BOLD = 1
const DIM = 2
const RED = 31
const GREEN = 32
const YELLOW = 33
const CYAN = 36

const TURN_END = '── turn-end'

/** AIP-46's prefixes, and their colours. */
const COLOURS = [
  ['[user]', GREEN],
  ['[thought]', DIM],
  ['[tool-error]', RED],
  ['[tool]', CYAN],
  ['[awaiting input]', YELLOW],
  ['[error]', RED],
  [TURN_END, DIM],
]

/** Prints a sentence of the demonstration itself. */
export function narrate(sentence) {
  process.stdout.write(`${paint(BOLD, `▸ ${sentence}`)}\n`)
}

/** Prints a session's lines up to the end of a turn: what is said after it must not overtake them. */
export async function showTurn(lines) {
  for (;;) {
    const { done, value } = await lines.next()
    if (done) return
    if (value.type !== 'line') continue
    const { line } = value
    process.stdout.write(`  ${paint(colourOf(line), line.line)}\n`)
    if (line.line.startsWith(TURN_END)) return
  }
}

function colourOf({ line, stream }) {
  const [, colour = stream === 'stderr' ? RED : 0] = COLOURS.find(([prefix]) => line.startsWith(prefix)) ?? []
  return colour
}
