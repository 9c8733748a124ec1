import type { AgentRequest } from '@agentproto/contracts'

/** Bounds of requests together, in characters of JSON: one of them may have millions. */

/** Of one session, waiting at once. */
export const MAX_ASKED_CHARS = 16 * 1024 * 1024
/** Of one session, no longer waiting. */
export const MAX_KEPT_CHARS = 2 * MAX_ASKED_CHARS
/** Of one page of a list. */
export const MAX_PAGE_CHARS = 32 * 1024 * 1024

/** How many of these fit, from the first one on; at least that one. */
export function countThatFits(requests: readonly AgentRequest[], maxChars: number): number {
  let chars = 0
  const end = requests.findIndex((request, index) => {
    chars += charsOf(request)
    return index > 0 && chars > maxChars
  })
  return end < 0 ? requests.length : end
}

/** Requests are never changed, so each is measured once. */
const measured = new WeakMap<AgentRequest, number>()

function charsOf(request: AgentRequest): number {
  const known = measured.get(request) ?? JSON.stringify(request).length
  measured.set(request, known)
  return known
}
