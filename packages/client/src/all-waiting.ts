import { defined, type SessionRequest } from '@agentproto/contracts'
import type { RequestPage, WaitingQuery } from '@agentproto/contracts/wire'

/** All requests that wait, from a reader of their pages. */
export async function allWaiting(
  readPage: (query: WaitingQuery) => Promise<RequestPage>,
): Promise<readonly SessionRequest[]> {
  const all: SessionRequest[] = []
  let after: string | undefined
  do {
    const page = await readPage(defined({ after }))
    all.push(...page.requests)
    after = page.nextCursor
  } while (after !== undefined)
  return all
}
