import { defined } from './json.js'
import type { Session } from './session.js'
import type { SessionFilter } from './wire/requests.js'
import type { SessionService } from './wire/session-service.js'

/** Every session, or every one that a filter lets through, page by page. */
export async function* everySession(
  sessions: Pick<SessionService, 'list'>,
  filter: SessionFilter = {},
): AsyncGenerator<Session> {
  let after: string | undefined
  do {
    const page = await sessions.list({ ...filter, limit: 1_000, ...defined({ after }) })
    yield* page.sessions
    after = page.nextCursor
  } while (after !== undefined)
}
