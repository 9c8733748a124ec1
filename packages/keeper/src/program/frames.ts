import { Refusal } from './refusal.js'

/**
 * Frames of the wire (docs/keeper.md): two lengths, a header in JSON, and bytes as they are. They are the same in every version
 * of the wire, so that both sides can always say which versions they speak.
 */

export interface Frame {
  readonly header: unknown
  readonly body: Buffer
}

/** Largest parts of a frame that a side accepts, in bytes. */
export interface FrameLimits {
  readonly header: number
  readonly body: number
}

/** For a peer that has not proved itself. */
export const STRANGER_LIMITS: FrameLimits = { header: 4 << 10, body: 0 }
/** A spawn has its environment in the header, a write up to one line of a protocol in the body. */
export const PEER_LIMITS: FrameLimits = { header: 8 << 20, body: 64 << 20 }

const LENGTHS = 8
const NOTHING = Buffer.alloc(0)

export function encodeFrame(header: object, body: Buffer = NOTHING): Buffer {
  const text = JSON.stringify(header)
  const length = Buffer.byteLength(text)
  const frame = Buffer.allocUnsafe(LENGTHS + length + body.length)
  frame.writeUInt32BE(length, 0)
  frame.writeUInt32BE(body.length, 4)
  frame.write(text, LENGTHS)
  body.copy(frame, LENGTHS + length)
  return frame
}

/** Cuts what a socket reads into frames. It holds at most one incomplete frame, as far as it has come. */
export class FrameReader {
  limits: FrameLimits
  #chunks: Buffer[] = []
  #size = 0
  /** How much must be there before it is worth looking again. */
  #wanted = LENGTHS

  constructor(limits: FrameLimits) {
    this.limits = limits
  }

  /** @throws {@link Refusal} when the stream cannot be read any further */
  *push(chunk: Buffer): Generator<Frame> {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size >= this.#wanted) {
      const bytes = this.#chunks.length === 1 ? chunkOf(this.#chunks) : Buffer.concat(this.#chunks)
      const [header, body] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)]
      if (header > this.limits.header || body > this.limits.body) throw new Refusal('frame_too_large')
      const end = LENGTHS + header + body
      const isWhole = bytes.length >= end
      this.#keep(isWhole ? bytes.subarray(end) : bytes, isWhole ? LENGTHS : end)
      if (isWhole) {
        yield { header: parse(bytes.subarray(LENGTHS, LENGTHS + header)), body: bytes.subarray(LENGTHS + header, end) }
      }
    }
  }

  #keep(rest: Buffer, wanted: number): void {
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#size = rest.length
    this.#wanted = wanted
  }
}

const chunkOf = (chunks: readonly Buffer[]): Buffer => chunks[0] ?? NOTHING

// The error of JSON.parse quotes its input, which may have secrets.
function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    throw new Refusal('bad_frame')
  }
}
