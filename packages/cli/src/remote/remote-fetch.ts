import { AgentprotoError } from '@agentproto/contracts'
import type { Fetch } from '@agentproto/client'
import { explained } from '../explained.js'
import { httpFetch } from '../http-fetch.js'
import type { ClientTls } from '../client-tls.js'
import type { Lifetime } from './lifetime.js'
import { MAKE_ONE } from './stored-token.js'

/** How long a connection may take to be there, in milliseconds. A packet filter may drop what it does not want. */
const CONNECT_MS = 10_000

export interface RemoteFetchOptions {
  /** The address of the gateway. */
  readonly url: string
  /** Where its token comes from. */
  readonly source: TokenSource
  readonly tls: ClientTls
  readonly lifetime: Lifetime
}

/** `given`: it is not stored yet. */
export type TokenSource = 'environment' | 'store' | 'given'

/** A `fetch` of a gateway elsewhere, that explains a rejected token and gives up a connection that does not come. */
export function remoteFetch({ url, source, tls, lifetime }: RemoteFetchOptions): Fetch {
  const send = httpFetch(tls, CONNECT_MS)
  return async function sendRemote(to, { signal, ...init }) {
    const over = lifetime.signal
    const answer = send(to, { ...init, signal: signal ? AbortSignal.any([signal, over]) : over })
    const response = await answer.catch((thrown: unknown) => {
      // An error of ours is not tried again.
      throw lifetime.isLeaving ? new AgentprotoError('cancelled', 'The command has ended', { cause: thrown }) : thrown
    })
    if (response.status !== 401) return response
    await response.body?.getReader().cancel()
    throw rejectedToken(url, source)
  }
}

function rejectedToken(url: string, source: TokenSource): AgentprotoError {
  const next = source === 'environment' ? 'set AGENTPROTO_TOKEN here' : `here: agentproto remote login ${url}`
  return explained(
    new AgentprotoError('unauthorized', `The gateway at ${url} does not accept ${REJECTED[source]}`, {
      hint: `${MAKE_ONE}; then ${next}`,
    }),
  )
}

const REJECTED: Readonly<Record<TokenSource, string>> = {
  environment: 'the token in AGENTPROTO_TOKEN: it was revoked or replaced, or is that of another gateway',
  store: 'the stored token: it was revoked or replaced',
  given: 'this token, so it is not stored',
}
