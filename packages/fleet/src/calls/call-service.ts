import { Svcm } from '@nats-io/services'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { callSubject } from '../subjects.js'

/** Of the messages between hosts, not of agentproto. */
const CALLS_VERSION = '1.0.0'

export interface CallServiceOptions {
  readonly nats: NatsConnection
  /** The name of this host. */
  readonly host: string
  /** Called with each message for this host, from whomever. */
  readonly receive: (message: Pick<Msg, 'data' | 'reply'>) => void
  readonly onProblem: (problem: string) => void
}

/**
 * The calls for this host as a service of NATS, so that `nats micro list` shows each host with its calls. Each answer is a message
 * of its own: the answer of the services API comes once, and a call has several.
 * @returns what ends it
 */
export async function openCallService({ nats, host, receive, onProblem }: CallServiceOptions): Promise<() => void> {
  const service = await new Svcm(nats).add({
    name: 'agentproto',
    version: CALLS_VERSION,
    description: 'Calls of other hosts',
    metadata: { host },
    // Each host answers for itself: a group would give its calls to any of them.
    queue: '',
  })
  service.addEndpoint('calls', {
    subject: callSubject(host),
    handler: (error, message) => (error === null ? receive(message) : onProblem(error.message)),
  })
  return () => {
    if (!nats.isClosed()) void service.stop().catch((error: unknown) => onProblem(String(error)))
  }
}
