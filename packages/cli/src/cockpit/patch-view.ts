import type { Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { paintPatchLine } from '../render/patch-line.js'
import { printable } from '../render/printable.js'
import { sessionName } from '../render/session-text.js'
import { wrap } from '../render/wrap.js'
import { ScrollView } from './scroll-view.js'

/** A screen is no place for more lines of a patch. */
const MAX_LINES = 20_000

/** What a session changed, to scroll in; undefined for nothing. */
export async function patchView(client: Client, session: Session): Promise<ScrollView | undefined> {
  const lines = await linesOf(client.changes.diff(session.id))
  if (lines.length === 0) return undefined
  return new ScrollView(`Changes of ${sessionName(session)}`, ({ paint, width }) =>
    lines.flatMap((line) =>
      wrap(printable(line), width).map((row, index) => (index === 0 ? paintPatchLine(row, paint) : row)),
    ),
  )
}

async function linesOf(patch: AsyncIterable<Uint8Array>): Promise<string[]> {
  const decoder = new TextDecoder()
  const lines: string[] = []
  let rest = ''
  for await (const piece of patch) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) lines.push(line)
    if (lines.length > MAX_LINES) return [...lines.slice(0, MAX_LINES), '… more: agentproto sessions diff shows it all']
  }
  return rest === '' ? lines : [...lines, rest]
}
