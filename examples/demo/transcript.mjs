// Prints a session's lines as they arrive, in the colours of `agentproto sessions --attach`.

const plain = 'NO_COLOR' in process.env || process.env.TERM === 'dumb'
const paint = (code, text) => (plain ? text : `\u001B[${code}m${text}\u001B[0m`)

const BOLD = 1
const DIM = 2
const RED = 31
const GREEN = 32
const YELLOW = 33
const CYAN = 36

/** AIP-46's prefixes, and their colours. */
const COLOURS = [
  ['[user]', GREEN],
  ['[thought]', DIM],
  ['[tool-error]', RED],
  ['[tool]', CYAN],
  ['[awaiting input]', YELLOW],
  ['[error]', RED],
  ['── turn-end', DIM],
]

/** Prints a sentence of the demonstration itself. */
export function narrate(sentence) {
  process.stdout.write(`${paint(BOLD, `▸ ${sentence}`)}\n`)
}

/** Prints a session's lines until it ends. */
export async function showTranscript(stream) {
  for await (const item of stream) {
    if (item.type === 'line') process.stdout.write(`  ${paint(colourOf(item.line), item.line.line)}\n`)
  }
}

function colourOf({ line, stream }) {
  const [, colour = stream === 'stderr' ? RED : 0] = COLOURS.find(([prefix]) => line.startsWith(prefix)) ?? []
  return colour
}
