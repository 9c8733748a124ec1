import { type AgentRequest, isLive, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { requestTitle, toolSubject } from './render/request-title.js'
import { sessionState } from './render/session-text.js'

/** A table shows the notes of at most this many sessions, because each costs a request. */
const MAX_REQUESTS = 40
/** What a session waited for before is no longer true of one that does not wait. */
const PASSED = /^(── turn-end |\[awaiting input\] )/

/** What each live session asks or wrote last, by id; those that wait for an answer first. Without what cannot be read. */
export async function notesOf(client: Client, sessions: readonly Session[]): Promise<Map<string, string>> {
  const live = sessions.filter((session) => isLive(session))
  const [waiting, others] = [
    live.filter(isWaiting),
    live.filter((session) => !isWaiting(session) && hasOutput(session)),
  ]
  const read = [...waiting, ...others].slice(0, MAX_REQUESTS)
  const entries = await Promise.all(read.map(async (session) => [session.id, await noteOf(client, session)] as const))
  return new Map(entries.flatMap(([id, note]) => (note === undefined ? [] : [[id, note]])))
}

/** What a session that waits asks, else its last output line. Undefined for none, and when it cannot be read. */
export const noteOf = (client: Client, session: Session): Promise<string | undefined> =>
  isWaiting(session) ? questionOf(client, session) : lastLineOf(client, session.id)

const isWaiting = (session: Session): boolean => sessionState(session) === 'waiting'
const hasOutput = ({ lastOutputAt }: Session): boolean => lastOutputAt !== undefined

async function questionOf(client: Client, { id, cwd }: Session): Promise<string | undefined> {
  const requests = await client.sessions.requests(id).catch(() => [])
  const [first, ...more] = requests.filter(({ state }) => state === 'pending')
  if (first === undefined) return undefined
  const text = questionText(first.request, cwd)
  return more.length === 0 ? text : `(1 of ${more.length + 1}) ${text}`
}

/** The command or file first: a long title must not hide it. */
function questionText(request: AgentRequest, cwd: string): string {
  const title = requestTitle(request)
  const subject = request.kind === 'permission' ? toolSubject(request.toolCall) : undefined
  const near = subject?.startsWith(`${cwd}/`) === true ? subject.slice(cwd.length + 1) : subject
  return near === undefined || title.includes(near) ? title : `${near} · ${title}`
}

async function lastLineOf(client: Client, id: string): Promise<string | undefined> {
  const lines = await client.sessions.output(id, 8).catch(() => [])
  return lines.findLast(({ line }) => line.trim() !== '' && !PASSED.test(line))?.line
}
