import { EXIT, type SearchHit, type SearchResult } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { cut } from '../render/fit.js'
import { oneLine } from '../render/printable.js'
import { shortId } from '../render/short-id.js'

export interface SearchOptions extends JsonOption {
  readonly limit: number
  readonly adapter?: string
  readonly workspace?: string
}

/** `agentproto sessions search`: exits with 4 when nothing is found. */
export async function searchSessions(io: Io, q: string, options: SearchOptions): Promise<number> {
  const { hits, nextCursor, unreadable = [] } = await search(await connect(io), q, options)
  if (options.json === true) {
    printJson(io, {
      hits,
      ...(nextCursor === undefined ? {} : { nextCursor }),
      ...(unreadable.length === 0 ? {} : { unreadable }),
    })
  } else {
    for (const hit of hits) print(io.stdout, hitLine(io, hit))
    if (hits.length === 0) print(io.stderr, 'Nothing was found.')
  }
  for (const { sessionId, events } of unreadable)
    print(
      io.stderr,
      `agentproto: ${events === 1 ? 'an event' : `${events} events`} of ${sessionId} cannot be read any more; see agentproto sessions repair --dry-run`,
    )
  if (nextCursor !== undefined) print(io.stderr, `There may be more; see it with --limit ${options.limit * 2}.`)
  return hits.length === 0 ? EXIT.empty : EXIT.ok
}

/** A search that takes long is answered in parts. */
async function search(client: Client, q: string, { limit, adapter, workspace }: SearchOptions): Promise<SearchResult> {
  const filter = { ...(adapter === undefined ? {} : { adapter }), ...(workspace === undefined ? {} : { workspace }) }
  let page = await client.archive.search({ q, limit, ...filter })
  const hits: SearchHit[] = [...page.hits]
  const unreadable = [...(page.unreadable ?? [])]
  while (page.nextCursor !== undefined && hits.length < limit) {
    page = await client.archive.search({ q, limit: limit - hits.length, ...filter, after: page.nextCursor })
    hits.push(...page.hits)
    unreadable.push(...(page.unreadable ?? []))
  }
  return { ...page, hits, unreadable }
}

function hitLine(io: Io, { sessionId, turn, seq, type, excerpt }: SearchHit): string {
  const paint = paintOf(io, io.stdout)
  const where = `${shortId(sessionId)} ${turn === undefined ? '-' : `turn ${turn}`} #${seq} ${type}`
  const room = Math.max(20, widthOf(io.stdout) - where.length - 2)
  return `${paint.dim(where)}  ${cut(oneLine(excerpt), room)}`
}
