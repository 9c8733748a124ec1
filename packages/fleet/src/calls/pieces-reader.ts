import type { Reader } from '@agentproto/contracts/wire'
import type { Outcome } from './call-frame.js'

/** Small pieces are joined up to about so many characters or bytes, so that each message carries something. */
const JOINED = 128 * 1024

/** Reads texts or bytes piece by piece, as outcomes. A source has only texts, or only bytes. */
export function piecesReader(source: AsyncIterable<string | Uint8Array>): Reader<Outcome> {
  const pieces = source[Symbol.asyncIterator]()
  return {
    async next() {
      const joined: (string | Uint8Array)[] = []
      for (let length = 0; length < JOINED;) {
        const piece = await read(pieces)
        if (piece === undefined) break
        joined.push(piece)
        length += piece.length
      }
      return joined.length === 0 ? undefined : outcomeOf(joined)
    },
    close: () => void pieces.return?.().catch(() => undefined),
  }
}

async function read(pieces: AsyncIterator<string | Uint8Array>): Promise<string | Uint8Array | undefined> {
  const { done, value } = await pieces.next()
  return done === true ? undefined : value
}

function outcomeOf(pieces: readonly (string | Uint8Array)[]): Outcome {
  const texts = pieces.filter((piece) => typeof piece === 'string')
  if (texts.length > 0) return { text: texts.join('') }
  return { base64: Buffer.concat(pieces.filter((piece) => typeof piece !== 'string')).toString('base64') }
}
