import { defined, type SessionRequest } from '@agentproto/contracts'
import type { RequestPage, WaitingQuery } from '@agentproto/contracts/wire'

/** A host of the fleet whose requests are missing, and why. */
type Unanswered = NonNullable<RequestPage['unanswered']>[number]

/**
 * All requests that wait, from a reader of their pages.
 * @param onUnanswered called with each host that did not answer, once for each page
 */
export async function allWaiting(
  readPage: (query: WaitingQuery) => Promise<RequestPage>,
  onUnanswered: (host: Unanswered) => void = () => undefined,
): Promise<readonly SessionRequest[]> {
  const all: SessionRequest[] = []
  let after: string | undefined
  do {
    const page = await readPage(defined({ after }))
    all.push(...page.requests)
    page.unanswered?.forEach(onUnanswered)
    after = page.nextCursor
  } while (after !== undefined)
  return all
}
