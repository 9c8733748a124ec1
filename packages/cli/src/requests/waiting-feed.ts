import type { Client } from '@agentproto/client'
import { type AnsweredBy, isAgentprotoError, type Session, type SessionRequest } from '@agentproto/contracts'
import type { SessionChange } from '@agentproto/contracts/wire'
import type { AskedRequest } from '../render/request-content.js'
import type { SilentHost } from '../render/silent-hosts.js'

/** A request that a person can answer now, or that none can any more. */
export type WaitingChange =
  | {
      readonly type: 'asked'
      readonly asked: AskedRequest
      readonly request: SessionRequest
      readonly session: Session
    }
  | { readonly type: 'gone'; readonly asked: AskedRequest; readonly answeredBy?: AnsweredBy }

/** Every request of every session that waits, with its session, oldest first. */
export async function waitingRequests(client: Client): Promise<AllWaiting> {
  const silent = new Map<string, SilentHost>()
  const all = await client.sessions.allWaiting((host) => silent.set(host.host, host))
  const sessions = new Map<string, Session | undefined>()
  for (const { sessionId } of all)
    if (!sessions.has(sessionId)) sessions.set(sessionId, await sessionOf(client, sessionId))
  const waiting = all.flatMap((request) => {
    const session = sessions.get(request.sessionId)
    return session === undefined ? [] : [{ request, session }]
  })
  return { waiting, unanswered: [...silent.values()] }
}

export interface AllWaiting {
  readonly waiting: readonly WaitingRequest[]
  readonly unanswered: readonly SilentHost[]
}

export interface WaitingRequest {
  readonly request: SessionRequest
  readonly session: Session
}

export const askedOf = ({ request, session }: WaitingRequest): AskedRequest => ({ ...request, session })

export interface OpenedFeed extends Pick<AllWaiting, 'unanswered'> {
  readonly changes: readonly WaitingChange[]
}

/** Follows from the changes of sessions which requests wait. */
export class WaitingFeed {
  readonly #client: Client
  readonly #known = new Map<string, AskedRequest>()

  constructor(client: Client) {
    this.#client = client
  }

  /** Those that wait now, oldest first. */
  async open(): Promise<OpenedFeed> {
    const { waiting, unanswered } = await waitingRequests(this.#client)
    const pending = waiting.filter(({ request }) => request.state === 'pending')
    return { changes: pending.map((each) => this.#asked(each)), unanswered }
  }

  /** What the change of a session means for its requests. */
  async apply(change: SessionChange): Promise<readonly WaitingChange[]> {
    const id = change.type === 'forgotten' ? change.id : change.session.id
    const known = [...this.#known.values()].filter(({ session }) => session.id === id)
    if (change.type === 'forgotten') return known.map((asked) => this.#gone(asked))
    const { session } = change
    if (session.pendingRequests === 0 && known.length === 0) return []
    const requests = await this.#requestsOf(session.id)
    const byId = new Map(requests.map((request) => [request.requestId, request]))
    const gone = known.filter(({ requestId }) => byId.get(requestId)?.state !== 'pending')
    const asked = requests.filter(({ requestId, state }) => state === 'pending' && !this.#known.has(requestId))
    return [
      ...gone.map((each) => this.#gone(each, byId.get(each.requestId)?.answeredBy)),
      ...asked.map((request) => this.#asked({ request, session })),
    ]
  }

  #asked({ request, session }: WaitingRequest): WaitingChange {
    const asked = askedOf({ request, session })
    this.#known.set(request.requestId, asked)
    return { type: 'asked', asked, request, session }
  }

  #gone(asked: AskedRequest, answeredBy?: AnsweredBy): WaitingChange {
    this.#known.delete(asked.requestId)
    return { type: 'gone', asked, ...(answeredBy !== undefined && { answeredBy }) }
  }

  async #requestsOf(id: string): Promise<readonly SessionRequest[]> {
    try {
      return await this.#client.sessions.requests(id)
    } catch (thrown) {
      if (isAgentprotoError(thrown) && thrown.code === 'session_not_found') return []
      throw thrown
    }
  }
}

async function sessionOf(client: Client, id: string): Promise<Session | undefined> {
  try {
    return await client.sessions.get(id)
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code === 'session_not_found') return undefined
    throw thrown
  }
}
