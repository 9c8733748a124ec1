import type { Client } from '@agentproto/client'
import type { ChangedFile } from './changed-files.js'
import { queryOf, type Span } from './span.js'

/** Longer patches are cut here, in characters: a page that shows more answers slowly. */
const PATCH_CHARS = 2 * 1024 * 1024

export interface ShownPatch {
  readonly text: string
  readonly isCut: boolean
}

interface PatchOf {
  readonly id: string
  readonly span: Span
  readonly file: ChangedFile
  readonly signal: AbortSignal
}

/** The patch of one file, read as it comes until there is enough of it. @throws as `changes.diff` */
export async function readPatch(client: Client, { id, span, file, signal }: PatchOf): Promise<ShownPatch> {
  const path = file.oldPath === undefined ? file.path : [file.oldPath, file.path]
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of client.changes.diff(id, { ...queryOf(span), path }, { signal })) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > PATCH_CHARS) return { text: text.slice(0, text.lastIndexOf('\n', PATCH_CHARS) + 1), isCut: true }
  }
  return { text: text + decoder.decode(), isCut: false }
}
