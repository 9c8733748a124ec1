import { randomBytes, timingSafeEqual } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Authenticate } from '@agentproto/contracts'
import { newToken } from './token-format.js'

/** The owner's token, from a file that only the owner reads; created if there is none. Two gateways that start at once use the same one. */
export function ownerToken(path: string): string {
  const known = readToken(path)
  if (known !== undefined) return known
  const fresh = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  writeFileSync(fresh, `${newToken('o').token}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // A link fails where a rename would replace: the second gateway uses the first one's token.
    linkSync(fresh, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(fresh)
  }
  return readToken(path) ?? ownerToken(path)
}

/**
 * Compares two buffers of the same size, so that the duration of a guess reveals neither the content nor the length of the
 * token. Not a digest: this runs for every request.
 */
export function authenticateOwner(token: string): Authenticate {
  const expected = padded(token, Buffer.alloc(Math.max(LEAST_BYTES, LENGTH_BYTES + Buffer.byteLength(token))))
  const given = Buffer.alloc(expected.length)
  return (guess) => (timingSafeEqual(padded(guess, given), expected) ? { type: 'owner', name: 'owner' } : undefined)
}

const LENGTH_BYTES = 4
const LEAST_BYTES = 256

/** The length comes first: a longer guess is cut, and must not pass as its own beginning. */
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
