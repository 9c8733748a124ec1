import type { JetStreamClient } from '@nats-io/jetstream'
import type { StoredSignatures } from '../keys/stored-signature.js'
import type { LogPublisherOptions } from './log-publisher-options.js'
import type { LogTail } from './log-tail.js'
import type { PublishPace } from './publish-pace.js'
import type { PublishSlots } from './publish-slots.js'
import type { Reachable } from './reachable.js'

/** What the publications of a host share. */
export interface Publishing extends Omit<LogPublisherOptions, 'cluster'> {
  readonly jetstream: JetStreamClient
  readonly signatures: StoredSignatures
  readonly tail: LogTail
  readonly slots: PublishSlots
  readonly pace: PublishPace
  readonly reachable: Reachable
  /** Of the body of a message. */
  readonly maxBytes: number
  /** Messages cannot be stored, for a while already or until a person changes something. */
  readonly onFailing: (why: string) => void
  readonly onStored: () => void
  /** Something was published, or a publication ended. */
  readonly onProgress: () => void
}
