/** One message of an earlier conversation. */
export interface TranscriptTurn {
  readonly role: 'user' | 'agent'
  readonly text: string
}

const LAST_TURNS = 10
/** Maximum length in characters; the oldest messages are omitted first. */
const MAX_CHARS = 200_000
const NOTHING: TranscriptTurn = { role: 'user', text: '' }
const NAMES = { user: 'User', agent: 'Agent' } as const

/**
 * The conversation so far, as text for an agent (AIP-45 `transcript`). Empty without a conversation.
 * @param lastTurns Number of turns, each a message of the user with its answers; default 10
 */
export function transcriptPreamble(transcript: readonly TranscriptTurn[], lastTurns = LAST_TURNS): string {
  const begins = transcript.flatMap(({ role }, index) => (role === 'user' ? [index] : []))
  const from = lastTurns < begins.length ? begins[begins.length - Math.max(0, lastTurns)] : 0
  const messages = fitting(transcript.slice(from ?? transcript.length))
  if (messages.length === 0) return ''
  return `The conversation so far, oldest first:\n\n${messages.join('\n\n')}\n\nIt goes on with this message:`
}

function fitting(turns: readonly TranscriptTurn[]): readonly string[] {
  const messages: string[] = []
  let room = MAX_CHARS
  for (let index = turns.length - 1; index >= 0; index--) {
    const { role, text } = turns[index] ?? NOTHING
    const message = `${NAMES[role]}: ${text}`
    room -= message.length
    // A single message that is too long is cut at its start, since the next one answers its end.
    if (room < 0) {
      if (messages.length === 0) messages.unshift(`${NAMES[role]}: …${text.slice(-MAX_CHARS)}`)
      break
    }
    messages.unshift(message)
  }
  return messages
}
