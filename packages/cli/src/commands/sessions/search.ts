import { defined, EXIT } from '@agentproto/contracts'
import type { SearchHit, SearchResult } from '@agentproto/contracts/wire'
import type { Client } from '@agentproto/client'
import type { CommandResult, Define } from '../../cli-command.js'
import { paintFor, print, warn, widthOf, type CliContext } from '../../cli-context.js'
import { toCount } from '../../command-definition.js'
import { connect } from '../../daemon/connect.js'
import { cut } from '../../render/fit.js'
import { oneLine } from '../../render/printable.js'
import { type SilentHost, silentNote } from '../../render/silent-hosts.js'
import { shortId } from '../../render/session-text.js'

interface SearchOptions {
  readonly limit: number
  readonly adapter?: string
  readonly workspace?: string
}

export const define: Define = (command) =>
  command
    .description('search prompts and answers for a text; the exit code is 4 when nothing is found')
    .argument('<text>')
    .option('-n, --limit <count>', 'maximum number of results', toCount, 20)
    .option('--adapter <slug>', 'only sessions of this adapter')
    .option('--workspace <slug>', 'only sessions of this workspace')
    .json()
    .examples('sessions search "connection refused"', 'sessions search cart --adapter opencode --json')
    .run(search)

async function search(context: CliContext, text: string, options: SearchOptions): Promise<CommandResult> {
  const { hits, nextCursor, unreadable = [], unanswered = [] } = await findAll(await connect(context), text, options)
  for (const { sessionId, events } of unreadable) {
    const what = events === 1 ? 'an event' : `${events} events`
    warn(context, `${what} of ${sessionId} cannot be read. See: agentproto sessions repair ${sessionId} --dry-run`)
  }
  if (nextCursor !== undefined) print(context.stderr, `There may be more; use --limit ${options.limit * 2}.`)
  const silent = silentNote(unanswered)
  if (silent !== undefined) print(context.stderr, silent)
  const json = { hits, ...defined({ nextCursor }), ...notEmpty({ unreadable, unanswered }) }
  if (hits.length === 0) return { json, note: 'Nothing was found.', exit: EXIT.empty }
  return { json, text: hits.map((hit) => hitLine(context, hit)) }
}

const notEmpty = (lists: Readonly<Record<string, readonly unknown[]>>): Record<string, readonly unknown[]> =>
  Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0))

/** The gateway answers a long search in pages. */
async function findAll(client: Client, q: string, { limit, adapter, workspace }: SearchOptions): Promise<SearchResult> {
  const hits: SearchHit[] = []
  const unreadable: NonNullable<SearchResult['unreadable']>[number][] = []
  const silent = new Map<string, SilentHost>()
  let after: string | undefined
  do {
    const filter = defined({ adapter, workspace, after })
    const page = await client.archive.search({ q, limit: limit - hits.length, ...filter })
    hits.push(...page.hits)
    unreadable.push(...(page.unreadable ?? []))
    for (const host of page.unanswered ?? []) silent.set(host.host, host)
    after = page.nextCursor
  } while (after !== undefined && hits.length < limit)
  return { hits, unreadable, unanswered: [...silent.values()], ...defined({ nextCursor: after }) }
}

function hitLine(context: CliContext, { sessionId, turn, seq, type, excerpt }: SearchHit): string {
  const place = `${shortId(sessionId)} ${turn === undefined ? '-' : `turn ${turn}`} #${seq} ${type}`
  const room = Math.max(20, widthOf(context.stdout) - place.length - 2)
  return `${paintFor(context, context.stdout).dim(place)}  ${cut(oneLine(excerpt), room)}`
}
