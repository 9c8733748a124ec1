import { AgentprotoError, BOUNDS, isLive, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { shortId } from './render/short-id.js'

/**
 * The session that a person means: by its id, by the first characters of it (with or without `s_`), or by
 * its label. Of several with one label the only live one is meant.
 * @throws `session_not_found`; `invalid_request` naming the candidates
 */
export async function findSession(client: Client, ref: string): Promise<Session> {
  const exact = /^s_[0-9a-z]{14,}$/.test(ref) ? await client.sessions.get(ref).catch(notFound) : undefined
  return exact ?? pickSession(await candidates(client, ref), ref)
}

/** The gateway looks for the text anywhere in ids, labels and titles, which is more than is meant, and never less. */
async function candidates(client: Client, ref: string): Promise<readonly Session[]> {
  const found: Session[] = []
  // Longer than what the gateway searches for, and than any label.
  if (ref === '' || ref.length > BOUNDS.labelChars) return found
  let after: string | undefined
  do {
    const page = await client.sessions.list({
      q: ref,
      limit: BOUNDS.listMax,
      ...(after === undefined ? {} : { after }),
    })
    found.push(...page.sessions.filter((session) => isMeant(session, ref)))
    after = page.nextCursor
  } while (after !== undefined)
  return found
}

export function pickSession(sessions: readonly Session[], ref: string): Session {
  const named = sessions.filter(({ id }) => id === ref)
  const matching = named.length > 0 ? named : sessions.filter((session) => isMeant(session, ref))
  const [only, second] = matching
  if (only !== undefined && second === undefined) return only
  if (only === undefined) throw noSession(ref)
  const live = matching.filter(isLive)
  if (live.length === 1 && matching.every(({ label }) => label === ref)) return live[0] as Session
  throw ambiguous(ref, matching)
}

const isMeant = ({ id, label }: Session, ref: string): boolean =>
  ref !== '' && (label === ref || id.startsWith(ref) || id.startsWith(`s_${ref}`))

const noSession = (ref: string): AgentprotoError =>
  new AgentprotoError('session_not_found', 'No session has this id or label', {
    given: ref,
    hint: 'See the sessions with: agentproto sessions',
  })

function ambiguous(ref: string, matching: readonly Session[]): AgentprotoError {
  const names = matching.slice(0, 5).map(({ id, label }) => shortId(id) + (label === undefined ? '' : ` (${label})`))
  return new AgentprotoError('invalid_request', `${matching.length} sessions are meant by this`, {
    given: ref,
    hint: `Use a longer id: ${names.join(', ')}${matching.length > 5 ? ', …' : ''}`,
  })
}

function notFound(thrown: unknown): undefined {
  if ((thrown as { code?: unknown }).code !== 'session_not_found') throw thrown
}
