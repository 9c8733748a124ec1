import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { paintFor, print, raw, type CliContext } from './cli-context.js'
import { openPager } from './pager.js'
import { paintPatchLine } from './render/patch-line.js'
import type { Paint } from './render/paint.js'

/**
 * Shows a patch: in a terminal coloured and through the pager of the person, without any control character of the files; to a
 * pipe byte for byte, so that `git apply` takes it.
 */
export async function showPatch(context: CliContext, patch: AsyncIterable<Uint8Array>): Promise<void> {
  const { stdout } = context
  if (stdout.isTTY !== true) return pipeline(Readable.from(patch), raw(stdout), { end: false })
  const lines = paintedLines(patch, paintFor(context, stdout))
  const pager = openPager(context)
  if (pager === undefined || !(await pager.show(lines))) for await (const line of lines) print(stdout, line)
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
