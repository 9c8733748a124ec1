import { AgentprotoError, everySession, isLive, type Session } from '@agentproto/contracts'
import { BOUNDS } from '@agentproto/contracts/wire'
import type { Client } from '@agentproto/client'
import type { CliContext } from './cli-context.js'
import { connect } from './daemon/connect.js'

/** Connects to the gateway and finds the session that the argument of a command names. */
export async function openSession(
  context: CliContext,
  ref: string,
): Promise<{ readonly client: Client; readonly session: Session }> {
  const client = await connect(context)
  return { client, session: await findSession(client, ref) }
}

/**
 * The session that a reference names: its id, the first characters of the id (with or without `s_`), or its label.
 * When several sessions share a label, the only live one wins.
 * @throws `session_not_found`; `invalid_request` naming the candidates
 */
export async function findSession(client: Client, ref: string): Promise<Session> {
  const exact = /^s_[0-9a-z]{14,}$/.test(ref) ? await client.sessions.get(ref).catch(notFound) : undefined
  if (exact !== undefined) return exact
  const found = await candidates(client, ref)
  return found.length === 0 ? Promise.reject(noSession(ref, await labels(client))) : pickSession(found, ref)
}

/** How many labels are compared with a mistyped one. */
const LABELS_MAX = 200

async function labels(client: Client): Promise<readonly string[]> {
  const { sessions } = await client.sessions.list({ limit: LABELS_MAX })
  return sessions.flatMap(({ label }) => (label === undefined ? [] : [label]))
}

/** The gateway searches ids, labels and titles for the text, so that its answer holds every match and more. */
async function candidates(client: Client, ref: string): Promise<readonly Session[]> {
  const found: Session[] = []
  // Longer than any label, and than what the gateway accepts as a search text.
  if (ref === '' || ref.length > BOUNDS.labelChars) return found
  for await (const session of everySession(client.sessions, { q: ref })) if (matches(session, ref)) found.push(session)
  return found
}

export function pickSession(sessions: readonly Session[], ref: string): Session {
  const exact = sessions.filter(({ id }) => id === ref)
  const matching = exact.length > 0 ? exact : sessions.filter((session) => matches(session, ref))
  const [only, second] = matching
  if (only !== undefined && second === undefined) return only
  if (only === undefined) throw noSession(ref)
  const live = matching.filter(isLive)
  if (live.length === 1 && matching.every(({ label }) => label === ref)) return live[0] as Session
  throw ambiguous(ref, matching)
}

const matches = ({ id, label }: Session, ref: string): boolean =>
  ref !== '' && (label === ref || id.startsWith(ref) || id.startsWith(`s_${ref}`))

const noSession = (ref: string, known: readonly string[] = []): AgentprotoError =>
  new AgentprotoError('session_not_found', 'No session has this id or label', {
    given: ref,
    hint: 'List the sessions with: agentproto sessions',
    data: { known },
  })

function ambiguous(ref: string, matching: readonly Session[]): AgentprotoError {
  const names = matching.slice(0, 5).map(({ id, label }) => id + (label === undefined ? '' : ` (${label})`))
  return new AgentprotoError('invalid_request', `${matching.length} sessions match this`, {
    given: ref,
    hint: `Use a longer id: ${names.join(', ')}${matching.length > 5 ? ', …' : ''}. List them with: agentproto sessions`,
  })
}

function notFound(thrown: unknown): undefined {
  if ((thrown as { code?: unknown }).code !== 'session_not_found') throw thrown
}
