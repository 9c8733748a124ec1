import { createHmac, timingSafeEqual } from 'node:crypto'
import type { MsgHdrs } from '@nats-io/transport-node'

// Whatever a gateway stores in NATS has a signature in a header, so that what another client of the account stores there is not
// taken for it. It covers the subject, all other headers and the body. One of the headers is the number of the message that the
// server must have last for the subject: a signed message that somebody stores once more is refused by the server with that header,
// and by its readers without it.

const SIGNATURE = 'Agentproto-Signature'
const EXPECTED = 'Nats-Expected-Last-Subject-Sequence'
const MESSAGE_ID = 'Nats-Msg-Id'

/** Headers that the server adds when any replica may answer. */
const DIRECT: ReadonlySet<string> = new Set(['Nats-Stream', 'Nats-Subject', 'Nats-Sequence', 'Nats-Time-Stamp'])

export interface Unsigned {
  readonly subject: string
  readonly headers: MsgHdrs
  readonly body: Uint8Array
  /** Sequence of the last message of the subject; the server stores the message only after that one. */
  readonly expected: number
  readonly id?: string
}

export interface StoredHeaders {
  readonly subject: string
  readonly headers: MsgHdrs | undefined
  readonly body: Uint8Array
  /** Whether any replica could answer. */
  readonly isDirect?: boolean
}

/** Signs what this gateway stores, and checks what is stored. */
export class StoredSignatures {
  readonly #key: Uint8Array

  /** @param key Of the fleet. Calls are signed with another one, so that nothing that is stored can be sent as a call. */
  constructor(key: Uint8Array) {
    this.#key = createHmac('sha256', key).update('agentproto stored').digest()
  }

  /** @returns the headers with which the message must be published, unchanged */
  sign({ subject, headers, body, expected, id }: Unsigned): MsgHdrs {
    headers.set(EXPECTED, String(expected))
    if (id !== undefined) headers.set(MESSAGE_ID, id)
    headers.set(SIGNATURE, this.#of(subject, contentOf(headers), body).toString('base64url'))
    return headers
  }

  /**
   * The id by which the server recognises a message that comes twice. No other client can know it before the message is stored, and have the
   * server take the message for one that it has.
   */
  idOf(name: string): string {
    return createHmac('sha256', this.#key).update(`id ${name}`).digest('base64url')
  }

  isSigned({ subject, headers, body, isDirect = false }: StoredHeaders): boolean {
    if (headers === undefined || headers.code !== 0 || headers.description !== '') return false
    const given = Buffer.from(headers.get(SIGNATURE), 'base64url')
    const wanted = this.#of(subject, contentOf(headers, isDirect), body)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  }

  #of(subject: string, content: readonly unknown[], body: Uint8Array): Buffer {
    // JSON has no line breaks of its own, so that the body begins after the first one.
    return createHmac('sha256', this.#key)
      .update(`${JSON.stringify([subject, content])}\n`)
      .update(body)
      .digest()
  }
}

/** After which message of its subject a signed one was stored. */
export const expectedOf = (headers: MsgHdrs): number => Number(headers.get(EXPECTED))

function contentOf(headers: MsgHdrs, isDirect = false): readonly unknown[] {
  return [...headers]
    .filter(([name]) => name !== SIGNATURE && !(isDirect && DIRECT.has(name)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}
