import { pathText } from './path-text.js'

/** The records of an output in which each ends with NUL, one batch per read. */
export async function* recordBatches(output: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of output) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const last = bytes.lastIndexOf(0)
    rest = bytes.subarray(last + 1)
    if (last >= 0) yield split(bytes.subarray(0, last))
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

function split(bytes: Buffer): readonly string[] {
  const text = pathText(bytes)
  return text.split('\0')
}
