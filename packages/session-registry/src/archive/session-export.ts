import type { Session } from '@agentproto/contracts'
import type { ExportFormat, ExportHead } from '@agentproto/contracts/wire'
import type { LogItem } from '../log/log-gap.js'
import { transcriptOf, turnAsMarkdown } from './transcript.js'

/**
 * Writes a session as text, piece by piece, so that a log of a million events is never in memory. Gaps are marked in their
 * place.
 */
export async function* exportOf(
  session: Session,
  events: AsyncIterable<LogItem>,
  { format, now }: { readonly format: ExportFormat; readonly now: string },
): AsyncGenerator<string> {
  const head: ExportHead = { format: 'agentproto.session.v1', exportedAt: now, session }
  switch (format) {
    case 'md':
      yield markdownHead(session, now)
      for await (const turn of transcriptOf(events)) yield turnAsMarkdown(turn)
      return
    case 'transcript':
      yield `{"session":${JSON.stringify(session)},"turns":[`
      yield* joined(transcriptOf(events))
      return yield ']}\n'
    case 'json':
      yield `${JSON.stringify(head).slice(0, -1)},"events":[\n`
      yield* joined(events)
      return yield '\n]}\n'
    case 'jsonl':
      yield `${JSON.stringify(head)}\n`
      yield* pieces(events, '\n', '\n')
  }
}

const joined = (items: AsyncIterable<unknown>): AsyncGenerator<string> => pieces(items, ',\n', '')

/** Characters of one piece. */
const PIECE = 64 * 1024

async function* pieces(items: AsyncIterable<unknown>, between: string, end: string): AsyncGenerator<string> {
  let text = ''
  let first = true
  for await (const item of items) {
    text += `${first ? '' : between}${JSON.stringify(item)}`
    first = false
    if (text.length < PIECE) continue
    yield text
    text = ''
  }
  if (!first) yield text + end
}

function markdownHead(session: Session, now: string): string {
  const { id, title, label, adapterSlug, agent, cwd, workspaceSlug, status, stopReason, startedAt, endedAt } = session
  const name = title ?? label ?? id
  const made = agent?.name === undefined ? adapterSlug : `${adapterSlug} (${agent.name} ${agent.version ?? ''})`.trim()
  const rows = [
    ['Session', `\`${id}\``],
    ['Agent', made],
    ['Folder', `\`${cwd}\` (${workspaceSlug})`],
    ['Status', stopReason === undefined ? status : `${status} (${stopReason})`],
    ['Time', endedAt === undefined ? startedAt : `${startedAt} to ${endedAt}`],
    ['Exported', now],
  ]
  const lines = rows.map(([key, value]) => `| ${key} | ${(value ?? '').replaceAll('|', '\\|')} |`)
  return `# ${name.replaceAll('\n', ' ')}\n\n| | |\n|---|---|\n${lines.join('\n')}\n\n`
}
