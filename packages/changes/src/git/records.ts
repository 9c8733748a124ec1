import { Slice } from '../slice.js'
import { pathBytes, pathText } from './path-text.js'

/** The records of an output in which each ends with NUL, one batch per read. All that has come is not read in one turn. */
export async function* recordBatches(output: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest: Buffer = Buffer.alloc(0)
  const slice = new Slice()
  for await (const chunk of output) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const last = bytes.lastIndexOf(0)
    rest = bytes.subarray(last + 1)
    if (last >= 0) yield split(bytes.subarray(0, last))
    if (slice.isOver) await slice.next()
  }
  if (rest.length > 0) yield split(rest)
}

/** The same, one by one. */
export async function* records(output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const batch of recordBatches(output)) yield* batch
}

/** The records of a whole output. */
export const allRecords = (output: Buffer): readonly string[] =>
  output.length === 0 ? [] : split(output.at(-1) === 0 ? output.subarray(0, -1) : output)

/** Records as input for git, each ended with NUL, in pieces of about the same size. */
export function* nulEnded(paths: Iterable<string>): Generator<Buffer> {
  let piece = ''
  for (const path of paths) {
    piece += `${path}\0`
    if (piece.length < PIECE_CHARS) continue
    yield pathBytes(piece)
    piece = ''
  }
  if (piece !== '') yield pathBytes(piece)
}

const PIECE_CHARS = 32 * 1024

function split(bytes: Buffer): readonly string[] {
  const text = pathText(bytes)
  return text.split('\0')
}
