import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
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

/** Compares digests, so that neither the content nor the length of a guess can be told from the time. */
export function authenticateOwner(token: string): Authenticate {
  const expected = digest(token)
  return (given) => (timingSafeEqual(digest(given), expected) ? { type: 'owner', name: 'owner' } : undefined)
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

const digest = (token: string): Buffer => createHash('sha256').update(token).digest()
