import { defined, isLive } from '@agentproto/contracts'
import type { StoredKept } from '@agentproto/contracts/agent'
import type { SessionState } from './state.js'

/** What the next host needs to go on with the agent of a session; undefined for one that ends with its host. */
export const keptOf = ({ session, queue, context: { transcript, isRewound } }: SessionState): StoredKept | undefined =>
  session.kept === true && isLive(session)
    ? { queue: queue.map(defined), context: defined({ transcript, isRewound }) }
    : undefined
