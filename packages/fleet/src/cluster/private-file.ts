import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'

/** What a file of the options is for, such as `credentials file`, and where it is. */
interface NamedFile {
  readonly what: string
  readonly path: string
}

/** The largest file that is read: a key, a certificate chain or credentials are far smaller. */
const MAX_BYTES = 256 * 1024

/**
 * The content of a file with a secret. Only its owner may read it (0600 or less), and the owner is this user or root.
 * @throws `invalid_request` for a relative path, a missing or too large file, or one that others can read
 */
export const readPrivate = (file: NamedFile): Buffer => read(file, true)

/** The content of a file without a secret, such as a certificate. @throws `invalid_request` */
export const readPublic = (file: NamedFile): Buffer => read(file, false)

function read({ what, path }: NamedFile, isSecret: boolean): Buffer {
  if (!isAbsolute(path))
    throw rejected(`The path of the ${what} is relative`, { given: path, expected: 'an absolute path' })
  const opened = open({ what, path })
  try {
    const stats = fstatSync(opened)
    if (!stats.isFile()) throw rejected(`The ${what} is not a file`, { given: path })
    if (stats.size > MAX_BYTES)
      throw rejected(`The ${what} is too large`, {
        given: `${stats.size} bytes`,
        expected: `at most ${MAX_BYTES} bytes`,
      })
    if (isSecret) assertPrivate({ what, path }, stats)
    return readFileSync(opened)
  } finally {
    closeSync(opened)
  }
}

function open({ what, path }: NamedFile): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    throw rejected(`The ${what} cannot be read`, { given: path, expected: 'a file that this user can read', cause })
  }
}

/** Windows has no such permission bits. */
function assertPrivate(
  { what, path }: NamedFile,
  { mode, uid }: { readonly mode: number; readonly uid: number },
): void {
  if (process.platform === 'win32') return
  if ((mode & 0o077) !== 0)
    throw rejected(`Other users can read the ${what} ${path}`, {
      expected: 'mode 0600',
      given: `mode 0${(mode & 0o777).toString(8)}`,
      hint: `Run: chmod 600 '${path}'`,
    })
  if (uid !== process.getuid?.() && uid !== 0)
    throw rejected(`The ${what} ${path} belongs to another user`, { expected: 'a file of this user or of root' })
}

const rejected = (problem: string, parts: ConstructorParameters<typeof AgentprotoError>[2]): AgentprotoError =>
  new AgentprotoError('invalid_request', problem, parts)
