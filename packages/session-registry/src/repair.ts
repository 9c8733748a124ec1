import type { SessionEvent, StoredSession } from '@agentproto/contracts'
import { type Ending, failureOf } from './ending.js'
import { eventOf, type LogEntry } from './event-record.js'
import type { ManagedSession } from './managed-session.js'
import type { OpenJournal } from './session-journal.js'

/**
 * What a host does at boot with a session that its predecessor left live: the log is brought to an end by
 * appending, never by rewriting (failure modes 11, 60).
 */

const READ = 2_048

/** Appends what is missing at the end of a session whose host died. Its processes are gone by now. */
export async function repairInterrupted(session: ManagedSession, stored: StoredSession): Promise<void> {
  const journal = await session.journal.open()
  const open = await openTurn(journal, stored)
  const { detail, ending } = diagnose(stored)
  const entries: { entry: LogEntry; turn?: number }[] = []
  if (open !== undefined) {
    for (const toolCallId of open.tools) entries.push({ entry: { type: 'tool-result', toolCallId, status: 'interrupted' }, turn: open.number })
    for (const requestId of open.requests) {
      entries.push({ entry: { type: 'agent-prompt-resolved', requestId, answer: { outcome: 'cancelled' }, by: { type: 'session-end' } }, turn: open.number })
    }
    entries.push({ entry: { type: 'error', message: detail }, turn: open.number })
    entries.push({ entry: { type: 'turn-end', reason: 'error', ...(open.produced ? {} : { empty: true }) }, turn: open.number })
  }
  for (const repair of await session.journal.repairs()) entries.push({ entry: { type: 'repair', detail: repair } })
  entries.push({ entry: { type: 'repair', detail } })
  entries.push({ entry: { type: 'status', status: ending.status, previous: stored.session.status } })
  entries.push({ entry: { type: 'session-stopped', ...ending } })
  await session.appendRepair(entries)
  await session.journal.settle()
}

function diagnose({ session }: StoredSession): { readonly detail: string; readonly ending: Ending } {
  if (session.status === 'starting') {
    const detail = 'The gateway ended before the session had started'
    return { detail, ending: { status: 'error', stopReason: 'error', failure: failureOf('startup_failure', detail) } }
  }
  const detail = 'The gateway ended while the session was active'
  return { detail, ending: { status: 'error', stopReason: 'agent_crashed', failure: failureOf('process_exit', detail) } }
}

interface OpenTurn {
  readonly number: number
  readonly tools: ReadonlySet<string>
  readonly requests: ReadonlySet<string>
  readonly produced: boolean
}

/** The turn that has no `turn-end`, read from the log: the record may be older than it. */
async function openTurn({ spine }: OpenJournal, stored: StoredSession): Promise<OpenTurn | undefined> {
  const scan = new TurnScan()
  let cursor = (stored.turns.at(-1)?.firstSeq ?? 1) - 1
  while (cursor < spine.lastSeq) {
    const { records } = await spine.read(cursor, READ)
    const last = records.at(-1)
    if (last === undefined) break
    for (const record of records) scan.take(eventOf(record))
    cursor = last.seq
  }
  return scan.open
}

class TurnScan {
  #number: number | undefined
  #tools = new Set<string>()
  #requests = new Set<string>()
  #produced = false

  get open(): OpenTurn | undefined {
    if (this.#number === undefined) return undefined
    return { number: this.#number, tools: this.#tools, requests: this.#requests, produced: this.#produced }
  }

  take(event: SessionEvent): void {
    switch (event.type) {
      case 'user-prompt':
        this.#number = event.turn
        this.#tools = new Set()
        this.#requests = new Set()
        this.#produced = false
        break
      case 'turn-end':
        this.#number = undefined
        break
      case 'text-delta':
      case 'thought':
        this.#produced = true
        break
      case 'tool-call':
        this.#produced = true
        this.#tools.add(event.toolCallId)
        break
      case 'tool-result':
        this.#tools.delete(event.toolCallId)
        break
      case 'agent-prompt':
        this.#requests.add(event.requestId)
        break
      case 'agent-prompt-resolved':
        this.#requests.delete(event.requestId)
        break
      default:
        break
    }
  }
}
