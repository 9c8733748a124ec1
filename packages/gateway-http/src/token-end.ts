import { whileTokenIsValid } from '@agentproto/contracts/wire'
import type { HttpContext, HttpDeps } from './http-deps.js'

/**
 * Answers a request that may take long, for as long as its token is valid.
 * @param answer Its signal aborts with the token; absent for the owner
 * @throws `unauthorized` when the token has ended meanwhile
 */
export function untilTokenEnds<T>(
  { revoked }: Pick<HttpDeps, 'revoked'>,
  c: HttpContext,
  answer: (ended: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const ended = revoked?.(c.get('by'))
  return whileTokenIsValid(ended, () => answer(ended))
}

/** Aborts when the client leaves or its token ends. */
export function leaving(c: HttpContext, ended: AbortSignal | undefined): AbortSignal {
  const { signal } = c.req.raw
  return ended === undefined ? signal : AbortSignal.any([signal, ended])
}
