import { JetStreamApiCodes, JetStreamApiError, type JetStreamClient, type PubAck } from '@nats-io/jetstream'
import { headersOf, type LogMessage, messageId } from './log-message.js'
import type { StoredSignatures } from '../keys/stored-signature.js'
import { logSubject } from '../subjects.js'

export interface MessageToStore {
  readonly sessionId: string
  readonly message: LogMessage
  /** Place in the stream of the last message of the log: it is stored only after that one. */
  readonly after: number
}

/** How long the answer to one message is waited for. */
const PUBLISH_MS = 5_000

/** Stores a message of a log, signed. @throws errors of NATS: but for a conflict it is not known whether it was stored */
export function storeMessage(
  { jetstream, signatures }: { readonly jetstream: JetStreamClient; readonly signatures: StoredSignatures },
  { sessionId, message, after }: MessageToStore,
): Promise<PubAck> {
  const subject = logSubject(sessionId)
  const { body } = message
  const msgID = signatures.idOf(messageId(sessionId, message))
  return jetstream.publish(subject, body, {
    headers: signatures.sign({ subject, headers: headersOf(message), body, expected: after, id: msgID }),
    msgID,
    expect: { lastSubjectSequence: after },
    timeout: PUBLISH_MS,
  })
}

/** The message on the subject is another than was expected: somebody wrote to it, or an answer was lost. */
export const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence
