import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { newToken } from './token-format.js'

/** The owner's token, from a file that only the owner reads: a new one if others could. Two gateways that start at once share it. */
export function ownerToken(path: string, onProblem: (problem: string) => void): string {
  const known = readToken(path, onProblem)
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
  return readToken(path, onProblem) ?? ownerToken(path, onProblem)
}

function readToken(path: string, onProblem: (problem: string) => void): string | undefined {
  try {
    const token = readFileSync(path, 'utf8').trim()
    const isOpen = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
    if (token !== '' && !isOpen) return token
    if (token !== '') onProblem(`${path} could be read by others, so its token is replaced: clients read it again`)
    rmSync(path)
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
