import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { paintFor, raw, type CliContext } from './cli-context.js'
import { showLines } from './pager.js'
import { paintPatchLine } from './render/patch-line.js'
import type { Paint } from './render/paint.js'

/**
 * Shows a patch: in a terminal coloured and through the pager of the person, without any control character of the files; to a
 * pipe byte for byte, so that `git apply` takes it.
 */
export async function showPatch(context: CliContext, patch: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = context
  if (stdout.isTTY !== true) return pipeline(Readable.from(patch), raw(stdout), { end: false })
  await showLines(context, paintedLines(patch, paintFor(context, stdout)))
}

async function* paintedLines(patch: AsyncIterable<Uint8Array>, paint: Paint): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of patch) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield paintPatchLine(line, paint)
  }
  if (rest !== '') yield paintPatchLine(rest, paint)
}
