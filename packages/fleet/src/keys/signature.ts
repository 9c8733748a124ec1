import { createHmac, timingSafeEqual } from 'node:crypto'
import { isRecord, type Json, parseJson } from '@agentproto/contracts'

// A message between hosts: version, HMAC-SHA-256 of all that follows it, length of the head, head (JSON), body. The head says who
// sent it to whom and until when it is valid; nothing of a message is parsed before its signature is checked.

const VERSION = 1
const MAC_BYTES = 32
const MAC_AT = 1
const LENGTH_AT = MAC_AT + MAC_BYTES
const HEAD_AT = LENGTH_AT + 4
/** Of a head; what is long is in the body. */
const MAX_HEAD_BYTES = 16 * 1024

export interface SealedMessage {
  readonly head: Json
  readonly body: Uint8Array
}

/** A signed message. */
export function seal(key: Uint8Array, head: object, body: Uint8Array): Uint8Array {
  const text = Buffer.from(JSON.stringify(head))
  if (text.length > MAX_HEAD_BYTES) throw new RangeError(`The head of a message has ${text.length} bytes`)
  const message = Buffer.allocUnsafe(HEAD_AT + text.length + body.length)
  message[0] = VERSION
  message.writeUInt32BE(text.length, LENGTH_AT)
  message.set(text, HEAD_AT)
  message.set(body, HEAD_AT + text.length)
  message.set(macOf(key, message), MAC_AT)
  return message
}

/** The message, if the key has signed it; undefined for anything else. */
export function unseal(key: Uint8Array, bytes: Uint8Array): SealedMessage | undefined {
  if (bytes.length < HEAD_AT || bytes[0] !== VERSION) return undefined
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!timingSafeEqual(macOf(key, message), message.subarray(MAC_AT, LENGTH_AT))) return undefined
  const length = message.readUInt32BE(LENGTH_AT)
  if (length > MAX_HEAD_BYTES || HEAD_AT + length > message.length) return undefined
  const head = parseJson(message.toString('utf8', HEAD_AT, HEAD_AT + length))
  return isRecord(head) ? { head, body: message.subarray(HEAD_AT + length) } : undefined
}

/** Bytes that the signature and the longest head take of a message. */
export const SEAL_BYTES = HEAD_AT + MAX_HEAD_BYTES

const macOf = (key: Uint8Array, message: Buffer): Buffer =>
  createHmac('sha256', key).update(message.subarray(0, MAC_AT)).update(message.subarray(LENGTH_AT)).digest()
