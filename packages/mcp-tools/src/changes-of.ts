import { AgentprotoError, defined } from '@agentproto/contracts'
import type { SessionChanges, ToolInput } from '@agentproto/contracts/wire'
import type { McpDeps } from './services.js'

/** Bytes of a patch that a tool returns: more would fill the caller's context (F74). */
const MAX_PATCH = 48 * 1024
/** Files that a tool lists. */
const MAX_FILES = 500

interface Changes extends SessionChanges {
  readonly patch?: string
  /** How many further files there are. */
  readonly omittedFiles?: number
}

/** What a session changed, and the patch of one file or folder where that is wanted. */
export async function changesOf(
  changes: McpDeps['changes'],
  { sessionId, patch: path, ...query }: ToolInput<'get_session_changes'>,
  signal: AbortSignal,
): Promise<Changes> {
  if (changes === undefined) throw new AgentprotoError('not_supported', 'What sessions change is not known here')
  const list = await changes.list(sessionId, query, signal)
  const omitted = list.totals.files - MAX_FILES
  const files = list.files.slice(0, MAX_FILES)
  const patch = path === undefined ? undefined : await text(await changes.diff(sessionId, { ...query, path }, signal))
  return { ...list, files, ...defined({ patch, omittedFiles: omitted > 0 ? omitted : undefined }) }
}

/** The beginning of a patch. */
async function text(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let patch = ''
  for await (const piece of pieces) {
    patch += decoder.decode(piece, { stream: true })
    if (patch.length > MAX_PATCH) return `${patch.slice(0, MAX_PATCH)}\n… (cut; ask for one file)`
  }
  return patch
}
