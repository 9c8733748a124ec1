import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
