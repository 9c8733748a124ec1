import { randomBytes, timingSafeEqual } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Authenticate } from '@agentproto/contracts'

/** The owner's token: made once, kept in a file that only the owner reads. */

/** Reads the token, making it when there is none. Two gateways at once end with the same one. */
export function ownerToken(path: string): string {
  const known = readToken(path)
  if (known !== undefined) return known
  const fresh = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  writeFileSync(fresh, `agp_o_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('base64url')}\n`, {
    mode: 0o600,
    flag: 'wx',
  })
  try {
    // A link fails where a rename would replace: whoever comes second uses the first one's token.
    linkSync(fresh, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(fresh)
  }
  return readToken(path) ?? ownerToken(path)
}

/**
 * Compares the whole of two buffers of one size, so that neither the content nor the length of the token can be told from
 * the time that a guess takes. No digest: every request is compared.
 */
export function authenticateOwner(token: string): Authenticate {
  const expected = padded(token, Buffer.alloc(Math.max(LEAST_BYTES, LENGTH_BYTES + Buffer.byteLength(token))))
  const given = Buffer.alloc(expected.length)
  return (guess) => (timingSafeEqual(padded(guess, given), expected) ? { type: 'owner', name: 'owner' } : undefined)
}

const LENGTH_BYTES = 4
const LEAST_BYTES = 256

/** The length first: what is longer than there is room for is cut, and must not be taken for what it begins with. */
function padded(token: string, buffer: Buffer): Buffer {
  buffer.fill(0)
  buffer.writeUInt32LE(Buffer.byteLength(token))
  buffer.write(token, LENGTH_BYTES)
  return buffer
}

function readToken(path: string): string | undefined {
  try {
    const token = readFileSync(path, 'utf8').trim()
    if (token !== '') return token
    rmSync(path)
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
