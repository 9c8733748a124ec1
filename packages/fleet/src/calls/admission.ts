import type { Clock } from '@agentproto/contracts'
import { CLOCK_DIFFERENCE_MS, type RefusalReason, type RequestFrame, requestSchema, VALID_MS } from './call-frame.js'
import { ReplayWindow } from './replay-window.js'
import { unseal } from '../keys/signature.js'

/** Runs of other hosts whose messages can still be valid. Only who has the key of the fleet can add one. */
const MAX_SENDERS = 2_048

interface Sender {
  readonly window: ReplayWindow
  /** When the last of its messages that arrived stops being valid here. */
  until: number
}

export interface Admitted {
  readonly frame: RequestFrame
  readonly body: Uint8Array
}

export interface Refused {
  readonly refused: RefusalReason
  /** Absent for a message that no host of the fleet has signed. */
  readonly frame?: RequestFrame
}

export interface AdmissionOptions {
  /** The name of this host. */
  readonly host: string
  readonly key: Uint8Array
  readonly clock: Pick<Clock, 'now'>
}

/** Which messages of other hosts are answered: signed, for this host, valid now, and never seen before. */
export class Admission {
  readonly #options: AdmissionOptions
  /** By host and run, in the order in which they were heard first. */
  readonly #senders = new Map<string, Sender>()

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** Nothing of the body is parsed. */
  admit(bytes: Uint8Array): Admitted | Refused {
    const message = unseal(this.#options.key, bytes)
    if (message === undefined) return { refused: 'forged' }
    const { success, data: frame } = requestSchema.safeParse(message.head)
    if (!success) return { refused: 'malformed' }
    const refused = this.#refusalOf(frame)
    return refused === undefined ? { frame, body: message.body } : { refused, frame }
  }

  #refusalOf(frame: RequestFrame): RefusalReason | undefined {
    const now = this.#options.clock.now()
    if (frame.to !== this.#options.host) return 'wrong_host'
    if (frame.expires < now) return 'expired'
    if (frame.expires > now + VALID_MS + CLOCK_DIFFERENCE_MS) return 'clock'
    const sender = this.#senderOf(frame, now)
    if (sender === undefined) return 'too_many_hosts'
    sender.until = Math.max(sender.until, frame.expires)
    return sender.window.accept(frame.n) ? undefined : 'replayed'
  }

  /** A sender is forgotten only when none of its messages is valid any more. */
  #senderOf({ from, run, expires }: RequestFrame, now: number): Sender | undefined {
    const name = `${from} ${run}`
    const known = this.#senders.get(name)
    if (known !== undefined) return known
    if (this.#senders.size >= MAX_SENDERS) this.#forgetBefore(now)
    if (this.#senders.size >= MAX_SENDERS) return undefined
    const sender = { window: new ReplayWindow(), until: expires }
    this.#senders.set(name, sender)
    return sender
  }

  #forgetBefore(now: number): void {
    for (const [name, { until }] of this.#senders) if (until < now) this.#senders.delete(name)
  }
}
